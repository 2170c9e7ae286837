"""Laws of how the page is served: to anybody who reaches the service, under a policy that lets it load only itself."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import voice_agent.service
from tests.voice_agent.serving import ROOT, served
from voice_agent.service.page import KINDS

WEB = Path(voice_agent.service.__file__).parent / "web"


@pytest.mark.asyncio
async def test_the_page_needs_no_key_and_loads_only_itself(tmp_path: Path) -> None:
    """Its files too: a key is typed on it. No inline script or style, no frame around it, no other origin."""
    async with served(tmp_path, keyed=True) as service:
        for path in ("/", "/web/shared.css", *(f"/web/{file.name}" for file in WEB.iterdir())):
            if path.endswith(".html"):
                continue
            response = await service.client.get(path)
            policy = response.headers["content-security-policy"]
            assert response.status_code == 200 and "unsafe" not in policy and "*" not in policy
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            kind = KINDS[path.rpartition(".")[2] or "html"] if "." in path else "text/html"
            assert response.headers["content-type"].startswith(kind)
            assert response.headers["x-content-type-options"] == "nosniff"
        assert (await service.client.post("/ask", json={"query": "a"})).status_code == 401


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "path",
    [
        "/web/",
        "/web/nosuch.js",
        "/web/..%2Fkeys.py",
        "/web/%2e%2e/page.py",
        "/web/index.html",
        "/web/a%00.js",
        "/web",
    ],
)
async def test_only_its_own_files_are_parts_of_the_page(tmp_path: Path, path: str) -> None:
    """Path tricks, other files of the package, what is not there: 404."""
    async with served(tmp_path) as service:
        response = await service.client.get(path)
        assert response.status_code == 404 and "import" not in response.text


@pytest.mark.asyncio
async def test_a_link_may_lead_to_the_page_but_no_other_page_may_use_it(tmp_path: Path) -> None:
    """Opened from a page of elsewhere it is shown; framed, fetched or asked from there nothing is."""
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with served(tmp_path) as service:
        get = service.client.get
        assert (await get("/", headers=link)).status_code == 200
        assert (await get("/calls", headers=link)).status_code == 403
        assert (await get("/", headers=link | {"Sec-Fetch-Dest": "iframe"})).status_code == 403
        assert (await get("/", headers=link | {"Sec-Fetch-Mode": "cors"})).status_code == 403
        assert (await get("/", headers=link | {"Origin": "https://evil.example"})).status_code == 403
        assert (await get("/", headers=link | {"Host": "evil.example"})).status_code == 403
        assert (await service.client.post("/", headers=link)).status_code == 403


def test_the_files_of_the_page_are_installed() -> None:
    """Each is package data."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["voice_agent.service"]
    for file in WEB.iterdir():
        assert any(fnmatch(f"web/{file.name}", pattern) for pattern in patterns), file
