//! The compatibility matrix as an SVG image, for a README.
//!
//! Takes a report, gives a static image: without scripts, other files, fonts or addresses. Its texts are text, its colours
//! follow `prefers-color-scheme`, and each answer has a mark beside its colour. Names of targets and versions are untrusted
//! text, shortened and escaped.

use std::fmt::Write as _;

use super::matrix::{Group, Head, Matrix, is_optional, legend};
use super::{Answer, CapabilityCell, Report, Untrusted};
use crate::model::text::count;

/// The greatest width of the image.
const WIDTH: usize = 1000;
/// The space at the left and right edge.
const EDGE: usize = 16;
/// The width of the labels of rows.
const LABELS: usize = 250;
/// The space for the slanted name of the last column.
const SLANT: usize = 66;
/// The greatest width of a column, and the least one for more than a mark.
const COLUMN: usize = 84;
const WORDS: usize = 58;
/// The least width of a column for a name and a version in two lines.
const TWO_LINES: usize = 38;
/// The heights of the title with the names of the targets, of a row, and of the title of a group.
const HEAD: usize = 168;
const ROW: usize = 22;
const TITLE: usize = 32;
/// The height of a line below the matrix.
const LINE: usize = 18;
/// The number of characters of a name, and of a version.
const NAME: usize = 20;
const VERSION: usize = 16;

const STYLE: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:13px;fill:#1f2328}\
.h{font-size:20px;font-weight:600}.g,.n{font-weight:600}.n{font-size:12px}.v{font-size:11px}.c{font-size:12px}.s{font-size:11px}\
.v{font-weight:400}.d,.v{fill:#59636e}.m{text-anchor:middle}.e{text-anchor:end}\
.bg{fill:#ffffff}.l{stroke:#d1d9e0;stroke-width:1;fill:none}\
.right{fill:#d9f2e0}.partly{fill:#fdf0c4}.wrong{fill:#ffdedb}.other{fill:#eaeef2}\
.tright{fill:#0b4f26}.tpartly{fill:#5f4200}.twrong{fill:#86181d}.tother{fill:#59636e}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.d,.v{fill:#9198a1}.bg{fill:#0d1117}.l{stroke:#3d444d}\
.right{fill:#12351f}.partly{fill:#3a2d0c}.wrong{fill:#4a1518}.other{fill:#21262d}\
.tright{fill:#7ee2a0}.tpartly{fill:#f2cc60}.twrong{fill:#ffb1ab}.tother{fill:#9198a1}}";

/// The classes of cells, in the order in which they are drawn.
const CLASSES: [&str; 4] = ["right", "partly", "wrong", "other"];

/// Returns the image. A report without answers gives an image that says so.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn svg(report: &Report) -> String {
    match Matrix::of(report) {
        Some(matrix) => Image::of(report, &matrix),
        None => Image::empty(),
    }
    .expect("writing to memory doesn't fail")
}

/// An image that grows from the top to the bottom.
struct Image {
    out: String,
    y: usize,
    column: usize,
    width: usize,
}

impl Image {
    fn empty() -> Result<String, std::fmt::Error> {
        let mut image = Self { out: String::new(), y: 40, column: COLUMN, width: 500 };
        image.line("No question of the compatibility matrix was answered.")?;
        Ok(image.finish("No answers", "No question was answered."))
    }

    fn of(report: &Report, matrix: &Matrix<'_>) -> Result<String, std::fmt::Error> {
        let columns = matrix.heads.len();
        let column = ((WIDTH - 2 * EDGE - LABELS - SLANT) / columns).min(COLUMN);
        // A narrow matrix is still as wide as the lines below it.
        let width = (2 * EDGE + LABELS + SLANT + column * columns).max(760);
        let mut image = Self { out: String::new(), y: HEAD, column, width };
        image.head(report, &matrix.heads)?;
        matrix.groups.iter().try_for_each(|group| image.group(group, &matrix.heads))?;
        image.y += LINE + 8;
        let marks = legend();
        let (first, rest) = marks.split_at(3);
        image.line(&first.join(";  "))?;
        image.line(&rest[..2].join(";  "))?;
        image.line(&rest[2..].join(";  "))?;
        if let Some(unasked) = &matrix.unasked {
            image.line(&format!("{unasked}."))?;
        }
        if report.missing() > 0 {
            image.line(&format!("The run is not complete: {} were not run.", count(report.missing(), "test")))?;
        }
        if matrix.more > 0 {
            image.line(&format!("{} are not in this image.", count(matrix.more, "further target")))?;
        }
        Ok(image.finish("Compatibility matrix of Model Context Protocol implementations", &description(matrix)))
    }

    /// The title, and the slanted names of the targets.
    fn head(&mut self, report: &Report, heads: &[Head<'_>]) -> std::fmt::Result {
        let agreement = report.agreement();
        let agreement = match agreement.asked {
            0 => String::new(),
            asked => format!("All are right in {} of {asked} questions.", agreement.held),
        };
        let lines = [
            ("h", "Model Context Protocol", 34),
            ("h", "compatibility", 58),
            ("d", "Conformance: what the specification", 84),
            ("d", "says of each implementation.", 101),
            ("d", &agreement, 124),
        ];
        for (class, text, y) in lines.iter().filter(|(_, text, _)| !text.is_empty()) {
            writeln!(self.out, r#"<text class="{class}" x="{EDGE}" y="{y}">{}</text>"#, escaped(text, 100))?;
        }
        for (place, head) in heads.iter().enumerate() {
            let (x, y) = (self.x(place) + self.column / 2, HEAD - 6);
            // Two slanted lines need more room than a narrow column has.
            let is_narrow = self.column < TWO_LINES;
            let (most_of_name, most_of_version) = if is_narrow { (18, 6) } else { (NAME, VERSION) };
            let (name, version) = (cut(&head.column.id.name, most_of_name), cut(&head.version, most_of_version));
            write!(self.out, r#"<g transform="translate({x} {y}) rotate(-48)">"#)?;
            if is_narrow {
                write!(self.out, r#"<text class="n">{name} <tspan class="v">{version}</tspan></text>"#)?;
            } else {
                write!(self.out, r#"<text class="n" y="-9">{name}</text><text class="v" y="4">{version}</text>"#)?;
            }
            writeln!(self.out, "</g>")?;
        }
        Ok(())
    }

    /// The left edge of a column.
    fn x(&self, place: usize) -> usize {
        EDGE + LABELS + place * self.column
    }

    fn group(&mut self, group: &Group<'_>, heads: &[Head<'_>]) -> std::fmt::Result {
        self.y += TITLE;
        let (y, right) = (self.y - 10, self.x(heads.len()));
        writeln!(self.out, r#"<text class="g" x="{EDGE}" y="{y}">{}</text>"#, escaped(&group.rows.title, 60))?;
        let mut boxes = CLASSES.map(|_| String::new());
        let mut rows = String::new();
        for row in &group.asked {
            let (top, base) = (self.y, self.y + 15);
            write!(rows, r#"<path class="l" d="M{EDGE} {top}H{right}"/><text y="{base}"><tspan x="{EDGE}">"#)?;
            write!(
                rows,
                r#"{}</tspan> <tspan class="d v e" x="{}">{}</tspan>"#,
                escaped(&row.short, 32),
                EDGE + LABELS - 10,
                row.role
            )?;
            for (place, head) in heads.iter().enumerate() {
                let cell = head.cell(row);
                let class = class(cell);
                let brief = row.brief(cell);
                let text = if self.column < WORDS { cell.answer.mark() } else { &brief };
                let size = if text.chars().count() > 7 { "s" } else { "c" };
                let (x, middle) = (self.x(place), self.x(place) + self.column / 2);
                write!(boxes[class], "M{0} {1}h{2}v{3}h-{2}z", x + 1, top + 1, self.column - 2, ROW - 2)?;
                write!(rows, r#" <tspan class="{size} m t{}" x="{middle}">{text}</tspan>"#, CLASSES[class])?;
            }
            rows += "</text>\n";
            self.y += ROW;
        }
        for (class, path) in CLASSES.iter().zip(&boxes).filter(|(_, path)| !path.is_empty()) {
            writeln!(self.out, r#"<path class="{class}" d="{path}"/>"#)?;
        }
        self.out += &rows;
        Ok(())
    }

    /// A line below the matrix, broken where it is too long.
    fn line(&mut self, text: &str) -> std::fmt::Result {
        let most = (self.width - 2 * EDGE) / 7;
        let mut lines = vec![String::new()];
        for word in Untrusted(text).line(1000).split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.chars().count() + word.chars().count() < most => line.extend([" ", word]),
                _ => lines.push(word.to_owned()),
            }
        }
        for line in lines {
            writeln!(self.out, r#"<text class="d c" x="{EDGE}" y="{}">{}</text>"#, self.y, escaped(&line, 200))?;
            self.y += LINE;
        }
        Ok(())
    }

    fn finish(self, title: &str, description: &str) -> String {
        let Self { out, y, width, .. } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{y}\" viewBox=\"0 0 {width} {y}\" \
             role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">{title}</title>\n<desc id=\"d\">{description}</desc>\n\
             <style>{STYLE}</style>\n<rect class=\"bg\" width=\"{width}\" height=\"{y}\"/>\n{out}</svg>\n"
        )
    }
}

fn class(cell: &CapabilityCell) -> usize {
    match cell.answer {
        Answer::Right => 0,
        // An option that is not taken is no fault.
        _ if is_optional(cell) => 3,
        Answer::Partly => 1,
        Answer::Wrong => 2,
        Answer::Author | Answer::Cannot | Answer::NotAsked => 3,
    }
}

/// The numbers of answers of each target, for people who do not see the image.
fn description(matrix: &Matrix<'_>) -> String {
    let rows: Vec<_> = matrix.groups.iter().flat_map(|group| &group.asked).collect();
    let of = |head: &Head<'_>| {
        let number = |answer| rows.iter().filter(|row| head.cell(row).answer == answer).count();
        let numbers = [Answer::Right, Answer::Partly, Answer::Wrong].map(|one| format!("{} {one}", number(one)));
        format!("{} {}: {}", cut(&head.column.id.name, NAME), cut(&head.version, VERSION), numbers.join(", "))
    };
    let targets: Vec<_> = matrix.heads.iter().map(of).collect();
    format!("The answers to {}. {}.", count(rows.len(), "question"), targets.join("; "))
}

/// Returns untrusted text with at most `most` characters, escaped.
fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.pop();
        short.push('…');
    }
    escaped(&short, 10 * most)
}

/// Returns text on one line without hidden characters, escaped for XML.
fn escaped(text: &str, most: usize) -> String {
    let line = Untrusted(text).line(most);
    let mut out = String::with_capacity(line.len());
    for one in line.chars() {
        match one {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            _ => out.push(one),
        }
    }
    out
}
