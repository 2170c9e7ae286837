"""Small real documents for the tests, made on the spot: PDF bytes by hand, DOCX by python-docx, packed files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from docx import Document

Drawn = tuple[int, int, int, str]
"""x and y from the page's lower left corner and font size in points, and the text."""


def pdf(*pages: Sequence[Drawn], encrypted: bool = False) -> bytes:
    """A PDF with one page for each list of lines; the text can be extracted, the font is named but not embedded."""
    codes = {char: n for n, char in enumerate(sorted({c for page in pages for *_, t in page for c in t}), 1)}
    contents = ["\n".join(_shown(*line, codes) for line in page) for page in pages]
    kids = [4 + 2 * n for n in range(len(pages))]
    font = 4 + 2 * len(pages)
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]/Count {len(kids)}>>",
        "<</Filter/Standard/V 1/R 2/P -4/O<" + "11" * 32 + ">/U<" + "22" * 32 + ">>>"
        if encrypted
        else "<<>>",
    ]
    for kid, content in zip(kids, contents, strict=True):
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F {font} 0 R>>>>"
            f"/Contents {kid + 1} 0 R>>",
            f"<</Length {len(content)}>>stream\n{content}\nendstream",
        ]
    cmap = _unicode_of(codes)
    objects += [
        f"<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/Identity-H/DescendantFonts[{font + 1} 0 R]"
        f"/ToUnicode {font + 3} 0 R>>",
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Song/DW 1000"
        f"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor {font + 2} 0 R>>",
        "<</Type/FontDescriptor/FontName/Song/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 900"
        "/Descent -200/CapHeight 800/StemV 80>>",
        f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream",
    ]
    return _assembled(objects, "/Encrypt 3 0 R/ID[<00><00>]" if encrypted else "")


def _shown(x: int, y: int, size: int, text: str, codes: dict[str, int]) -> str:
    return f"BT /F {size} Tf {x} {y} Td <{''.join(f'{codes[c]:04X}' for c in text)}> Tj ET"


def _unicode_of(codes: dict[str, int]) -> str:
    pairs = "".join(f"<{code:04X}> <{char.encode('utf-16-be').hex()}>\n" for char, code in codes.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{pairs}endbfchar\nendcmap end end"
    )


def _assembled(objects: Sequence[str], trailer: str) -> bytes:
    body = b"%PDF-1.4\n"
    starts = []
    for n, text in enumerate(objects, 1):
        starts.append(len(body))
        body += f"{n} 0 obj\n{text}\nendobj\n".encode("ascii")
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{len(body)}\n%%EOF"
    return body + head.encode() + end.encode()


def docx(title: str, heading: str, text: str, rows: Sequence[Sequence[str]]) -> bytes:
    """A Word document: its title, one heading, a paragraph and a table whose first row is not declared a header."""
    document = Document()
    document.add_heading(title, 0)
    document.add_heading(heading, 1)
    document.add_paragraph(text)
    table = document.add_table(rows=0, cols=len(rows[0]))
    for row in rows:
        for cell, said in zip(table.add_row().cells, row, strict=True):
            cell.text = said
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def with_member(packed: bytes, name: str, content: bytes) -> bytes:
    """A zip file with one more member."""
    out = io.BytesIO(packed)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()
