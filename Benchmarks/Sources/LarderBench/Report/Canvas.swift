import Foundation

/// A drawing in SVG. Its colours fit light and dark pages.
struct Canvas {
  private var body = ""

  enum Anchor: String {
    case start, middle, end
  }

  mutating func text(
    _ text: String, x: Double, y: Double, anchor: Anchor = .start, style: String = "label"
  ) {
    let escaped = text.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
    body +=
      "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor.rawValue)\">\(escaped)</text>\n"
  }

  mutating func bar(x: Double, y: Double, width: Double, height: Double, style: String) {
    body +=
      "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(max(0.5, width)))\" height=\"\(number(height))\" rx=\"2\"/>\n"
  }

  mutating func line(x1: Double, y1: Double, x2: Double, y2: Double, style: String) {
    body +=
      "<line class=\"\(style)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>\n"
  }

  mutating func path(_ points: [(x: Double, y: Double)], color: Int) {
    let list = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    body += "<polyline class=\"series s\(color)\" points=\"\(list)\"/>\n"
    for point in points {
      body +=
        "<circle class=\"dot s\(color)\" cx=\"\(number(point.x))\" cy=\"\(number(point.y))\" r=\"3\"/>\n"
    }
  }

  func document(width: Double, height: Double, title: String) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" role="img">
    <title>\(title)</title>
    <style>
    svg { background: #ffffff; font: 12px -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    .title { font-size: 17px; font-weight: 600; fill: #1f2328; }
    .head { font-size: 13px; font-weight: 600; fill: #1f2328; }
    .label { fill: #1f2328; }
    .faint { fill: #59636e; }
    .ours { fill: #0969da; }
    .theirs { fill: #afb8c1; }
    .limit { fill: #6e7781; }
    .axis { stroke: #d1d9e0; }
    .one { stroke: #6e7781; stroke-dasharray: 3 3; }
    .series { fill: none; stroke-width: 2; }
    .s0 { stroke: #0969da; } .s1 { stroke: #6e7781; } .s2 { stroke: #bc4c00; } .s3 { stroke: #1a7f37; }
    .s4 { stroke: #8250df; } .s5 { stroke: #bf3989; } .s6 { stroke: #9a6700; } .s7 { stroke: #0a7d91; }
    .dot { fill: #ffffff; stroke-width: 2; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; }
      .title, .head, .label { fill: #f0f6fc; }
      .faint { fill: #9198a1; }
      .ours { fill: #4493f8; }
      .theirs { fill: #656c76; }
      .limit { fill: #9198a1; }
      .axis { stroke: #3d444d; }
      .one { stroke: #9198a1; }
      .s0 { stroke: #4493f8; } .s1 { stroke: #9198a1; } .s2 { stroke: #f0883e; } .s3 { stroke: #3fb950; }
      .s4 { stroke: #ab7df8; } .s5 { stroke: #db61a2; } .s6 { stroke: #d29922; } .s7 { stroke: #39c5cf; }
      .dot { fill: #0d1117; }
    }
    </style>
    \(body)</svg>

    """
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
