//! The pages of a site in one file that needs nothing else: no network, no fonts, no second file, no script.
//!
//! Takes the pages by their paths, and gives one document in which each page is a section and links lead to sections. Must
//! not know the content of a page.

use std::collections::BTreeSet;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::super::filters;
use super::STYLE;

/// The bytes of all sections.
const MOST: usize = 4 << 20;

#[derive(Template)]
#[template(path = "single.html", config = "src/report/site/askama.toml")]
struct Document {
    policy: String,
    casebook: &'static str,
    title: String,
    question: String,
    style: &'static str,
    sections: String,
    /// The number of pages that did not fit.
    left_out: usize,
}

/// Returns the document. The first page comes first; links to pages that are not among them become text.
pub(super) fn document(title: String, question: String, pages: &[(String, String)]) -> String {
    let mut size = 0;
    let fits = |page: &&(String, String)| {
        size += page.1.len();
        size <= MOST
    };
    let kept: Vec<&(String, String)> = pages.iter().take_while(fits).collect();
    let paths: BTreeSet<&str> = kept.iter().map(|(path, _)| path.as_str()).collect();
    let document = Document {
        policy: format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            STANDARD.encode(Sha256::digest(STYLE))
        ),
        casebook: env!("CARGO_PKG_VERSION"),
        title,
        question,
        style: STYLE,
        sections: kept.iter().map(|(path, html)| section(path, html, &paths)).collect(),
        left_out: pages.len() - kept.len(),
    };
    document.render().expect("a template renders to memory")
}

/// A page as a section. Markup of text is escaped, so that only templates have these attributes.
fn section(path: &str, html: &str, paths: &BTreeSet<&str>) -> String {
    let body = html.split_once("<main>").and_then(|(_, rest)| rest.rsplit_once("</main>")).map_or("", |(body, _)| body);
    let root = "../".repeat(path.matches('/').count());
    let mut out = format!("<section class=\"page\" id=\"{}\">", anchor(path, ""));
    let mut rest = body;
    while let Some((before, name, value, after)) = attribute(rest) {
        out.push_str(before);
        match name {
            "href" if value.starts_with("https://") => out += &format!("href=\"{value}\""),
            "href" => {
                let (page, fragment) = value.split_once('#').unwrap_or((value, ""));
                let page = if page.is_empty() { path } else { page.strip_prefix(&root).unwrap_or(page) };
                if paths.contains(page) {
                    out += &format!("href=\"#{}\"", anchor(page, fragment));
                }
            }
            _ => out += &format!("{name}=\"{}\"", anchor(path, value)),
        }
        rest = after;
    }
    out + rest + "</section>\n"
}

/// The next attribute with an address or an id: the text before it, its name and value, and the text after it.
fn attribute(text: &str) -> Option<(&str, &str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("=\"").map(|at| from + at) {
        let name = text[from..at].rsplit_once(' ').map_or("", |(_, name)| name);
        if matches!(name, "href" | "id" | "aria-labelledby") {
            let (value, after) = text[at + 2..].split_once('"')?;
            return Some((&text[..at - name.len()], name, value, after));
        }
        from = at + 2;
    }
    None
}

/// The id of a section, or of a place in it.
fn anchor(path: &str, fragment: &str) -> String {
    let page = path.strip_suffix("/index.html").unwrap_or(path);
    if fragment.is_empty() { page.to_owned() } else { format!("{page}--{fragment}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_sections_and_others_become_text() {
        let page = |body: &str| format!("<html><main>{body}</main></html>");
        let pages = [
            ("index.html".to_owned(), page("<a href=\"a/b/index.html#x\">1</a> <a href=\"gone/index.html\">2</a>")),
            ("a/b/index.html".to_owned(), page("<p id=\"x\"><a href=\"../../index.html\">3</a> <a href=\"#x\">4</a>")),
        ];
        let html = document("T".to_owned(), "Q".to_owned(), &pages);
        for part in
            ["<a href=\"#a/b--x\">1", "<a >2", "id=\"a/b--x\"", "<a href=\"#index.html\">3", "<a href=\"#a/b--x\">4"]
        {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
