"""Names in generated code: identifiers, and names as they may stand in a comment."""

import json
import re

_KEYWORDS = """
    v u z i k e x y self this state real double float int char void const static struct return
    for if else while do switch case break continue default typedef enum union unsigned signed
    short long auto register volatile extern goto sizeof inline restrict main memset
    function class new var let import export null true false in of with yield await async def
    from as is not and or None True False lambda pass global nonlocal try except finally raise
    del assert eval arguments package private protected public interface implements super
    typeof instanceof delete throw catch debugger math inputs network result
    BIAS RESPONSE START SOURCE WEIGHT GAIN MATRIX ORIGIN INITIAL
    Network Number Math JSON Infinity NaN Object Array Float64Array Int32Array activate range
    sorted max min abs round len str RangeError ValueError
    asm bool nullptr constexpr static_assert thread_local alignas alignof typeof_unqual
    linux unix i386 NULL NAN INFINITY MAXFLOAT HUGE OVERFLOW UNDERFLOW DOMAIN SING PLOSS TLOSS
    MATH_ERRNO MATH_ERREXCEPT math_errhandling signgam fpclassify signbit isfinite isinf isnan
    isnormal issubnormal issignaling iszero iscanonical iseqsig isgreater isgreaterequal isless
    islessequal islessgreater isunordered strdupa strndupa
    FP_NAN FP_INFINITE FP_NORMAL FP_SUBNORMAL FP_ZERO FP_ILOGB0 FP_ILOGBNAN FP_LLOGB0 FP_LLOGBNAN
    FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO
    FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO
"""
_CONSTANTS = "E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2 SQRT1_2"
_TYPES = ("", "f", "l", *(f"f{bits}" for bits in ("16", "32", "64", "128", "32x", "64x", "128x")))
RESERVED = frozenset(
    [
        *_KEYWORDS.split(),
        *(f"M_{name}{kind}" for name in _CONSTANTS.split() for kind in _TYPES),
        *(f"SNAN{kind.upper()}" for kind in _TYPES),
        *(f"HUGE_VAL{'_' * (len(kind) > 1)}{kind.upper()}" for kind in _TYPES),
    ]
)
"""Names that no language takes for an identifier, or that generated code uses; of C also the macros
of its headers and compilers.
"""


def identifier(name: str, used: set[str]) -> str:
    """Return a name that every language takes for an identifier, and add it to `used`."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]
    plain = plain if re.match(r"[A-Za-z]", plain) else f"n{plain}"
    unique, number = plain, 1
    while unique in used or f"{unique.upper()}_ROWS" in used:
        number += 1
        unique = f"{plain}_{number}"
    used.add(unique)
    used.add(f"{unique.upper()}_ROWS")
    return unique


def quoted(name: str) -> str:
    """Return a name as it may stand in a comment of any language."""
    return json.dumps(name[:200]).replace("*/", "* /").replace("/*", "/ *")
