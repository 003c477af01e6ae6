"""The checks that confirm what the expressions propose, by the name that the core gives them.

Each takes how a candidate reads and returns whether it is what it seems. None may be sure of its own: whoever calls
`confirms` gets a yes where a check fails with an exception, or is not known.
"""

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, Final

from cyberos.errors import ExtraMissing

# Checks of python-stdnum: modules with `is_valid`.
_NUMBERS: Final = {
    "au_tfn": ("stdnum.au.tfn",),
    "br_cpf": ("stdnum.br.cpf",),
    "ca_sin": ("stdnum.ca.sin",),
    "cn_ric": ("stdnum.cn.ric",),
    "de_idnr": ("stdnum.de.idnr",),
    "es_nif": ("stdnum.es.nif", "stdnum.es.dni", "stdnum.es.nie"),
    "fi_hetu": ("stdnum.fi.hetu",),
    "fr_nir": ("stdnum.fr.nir",),
    "gb_nhs": ("stdnum.gb.nhs",),
    "in_aadhaar": ("stdnum.in_.aadhaar",),
    "in_pan": ("stdnum.in_.pan",),
    "it_codicefiscale": ("stdnum.it.codicefiscale",),
    "kr_rrn": ("stdnum.kr.rrn",),
    "luhn": ("stdnum.luhn",),
    "mx_curp": ("stdnum.mx.curp",),
    "nl_bsn": ("stdnum.nl.bsn",),
    "nordic": ("stdnum.se.personnummer", "stdnum.no.fodselsnummer", "stdnum.dk.cpr"),
    "pl_pesel": ("stdnum.pl.pesel",),
    "us_ssn": ("stdnum.us.ssn", "stdnum.us.itin"),
    "vn_mst": ("stdnum.vn.mst",),
}
_PARTS: Final = str.maketrans("", "", " -.")
# Numbers of the United States that were printed so often that python-stdnum takes them for nobody's.
_PRINTED: Final = {"078051120", "219099999", "457555462"}
# Where a number that is called a telephone number may be one.
_REGIONS: Final = (
    *("VN", "US", "GB", "DE", "FR", "IN", "JP", "CN", "KR", "SG", "TH", "ID", "MY", "PH", "AU", "BR"),
    *("ES", "IT", "NL", "PL", "SE", "CH", "AT", "BE", "PT", "TR", "UA", "RU", "MX", "AR", "ZA", "IL", "DK", "FI", "NO"),
)


@functools.cache
def require() -> None:
    """Raises `ExtraMissing` where what confirms is not installed: then nothing may be taken for redacted."""
    for module, package in (("phonenumbers", "phonenumbers"), ("stdnum", "python-stdnum")):
        if importlib.util.find_spec(module) is None:
            raise ExtraMissing(
                f"redaction needs the package {package}", extra="redact", hint="pip install 'cyberos[redact]'"
            )


def confirms(check: str | None, value: str) -> bool:
    """Whether a candidate is what it seems: in doubt, it is."""
    if check is None:
        return True
    try:
        if check.startswith("phone_"):
            return _is_phone(value, check.removeprefix("phone_"))
        if check == "iban":
            return _is_account(value)
        number = value.translate(_PARTS)
        if check == "us_ssn" and number in _PRINTED:
            return True
        return any(_module(name).is_valid(number) for name in _NUMBERS[check])
    except Exception:  # noqa: BLE001, a check that fails must not let anything through
        return True


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _is_account(value: str) -> bool:
    # The country's own rules are left out: what has the right length and remainder is somebody's.
    return bool(_module("stdnum.iban").is_valid(value, check_country=False))


def _is_phone(value: str, where: str) -> bool:
    phonenumbers = _module("phonenumbers")

    def check(text: str, region: str | None, test: Callable[[Any], bool]) -> bool:
        try:
            return test(phonenumbers.parse(text, region))
        except phonenumbers.NumberParseException:
            return False

    if where == "international":
        number = value if value.startswith("+") else "+" + value.lstrip("0 -")
        # Written in groups, a number is one also where nobody has it yet.
        is_grouped = not number.removeprefix("+").isdigit()
        return check(number, None, phonenumbers.is_possible_number if is_grouped else phonenumbers.is_valid_number)
    if where == "labelled":
        number = "+" + value[2:] if value.startswith("00") else value
        return any(check(number, region, phonenumbers.is_possible_number) for region in _REGIONS)
    return check(value, where, phonenumbers.is_valid_number)
