import Foundation
import Service

/// One page of HTML with a list of articles and their texts. A policy in it forbids scripts, and everything to load but images
/// beside it.
struct SitePage {
  private var contents = ""
  private var articles = ""
  private var count = 0

  /// - Parameter html: the article's text as ``SafeHTML`` wrote it.
  mutating func add(_ bookmark: Bookmark, html: String) {
    count += 1
    let (id, name) = ("article-\(count)", SafeHTML.escaped(bookmark.name))
    let about = ([bookmark.siteName, String(bookmark.created.prefix(10))] + bookmark.authors)
      .filter { !$0.isEmpty }.map(SafeHTML.escaped).joined(separator: ", ")
    let source = SafeHTML.link(bookmark.url, nil).map {
      #" <a href="\#(SafeHTML.escaped($0))" rel="noreferrer">original</a>"#
    }
    contents += "<li><a href=\"#\(id)\">\(name)</a></li>\n"
    articles += """
      <article id="\(id)" lang="\(SafeHTML.escaped(bookmark.language))" dir="\(bookmark.direction)">
      <header><h1>\(name)</h1><p>\(about)\(source ?? "")</p></header>
      <div>\(html)</div>
      </article>

      """
  }

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
    <meta name="referrer" content="no-referrer">
    <meta name="generator" content="\(Self.generator)">
    <meta name="viewport" content="width=device-width">
    <title>\(count) articles</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <nav><ol>
    \(contents)</ol></nav>
    \(articles)</body>
    </html>

    """
  }

  /// Marks a page that may be overwritten.
  static let generator = "larder-articles"

  /// The digest is that of ``style``, byte for byte.
  private static let policy =
    "default-src 'none'; img-src 'self' file:; base-uri 'none'; form-action 'none'; "
    + "style-src 'sha256-Yr6oLXz7VU7KCbEkfGvoBqLRxt2X2I7+HLVw04mFHgQ='"

  private static let style = """
    body{font:1.05em/1.6 Georgia,serif;max-width:42em;margin:2em auto;padding:0 1em;color:#222;background:#fdfdfb}
    nav ol{padding-left:1.4em}article{border-top:1px solid #bbb;margin-top:3em}header p{color:#666;font-size:.9em}
    img{max-width:100%;height:auto}pre{overflow:auto;background:#f0f0ec;padding:.6em}
    blockquote{border-left:3px solid #ccc;margin-left:0;padding-left:1em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em}
    .missing{color:#888;font-style:italic}
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}pre{background:#2a2a2a}a{color:#8ab4f8}}
    """
}

extension Bookmark {
  /// Of its text.
  var direction: String { fields["text_direction"]?.text == "rtl" ? "rtl" : "auto" }
}
