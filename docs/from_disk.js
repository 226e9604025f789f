// A browser does not let a page from the disk read the search index: where search cannot work it is not shown.
if (location.protocol === "file:") document.documentElement.classList.add("from-disk");
