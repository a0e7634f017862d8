import Foundation
import HTTPTypes
import Service

extension Readeck {
  /// The end of a change at the service.
  enum Change: Sendable {
    /// It was made; `updated` is the bookmark's new time, nil for a deleted one.
    case made(updated: String?)
    /// The service itself refuses the change, and would again.
    case refused(ServiceError)
  }

  /// Sends new values of a bookmark's fields; nil deletes it. Throws for an answer that says nothing about the change.
  func send(_ fields: [String: JSON]?, to id: String) async throws -> Change {
    let body = try fields.map { Array(try JSONEncoder().encode($0)) } ?? []
    let reply = try await service.send(
      "/bookmarks/\(id.percentEscaped)", method: fields == nil ? .delete : .patch, body: body,
      fields: [.contentType: "application/json", .accept: "application/json"])
    do {
      _ = try checked(reply)
    } catch {
      if error.isRefusal, !error.isTemporary, !error.refusesUser, !error.isMissing {
        return .refused(error)
      }
      throw error
    }
    let json = reply.json
    if reply.status != 204 {
      guard reply.status == 200, case .object = json else { throw tellsNothing(reply) }
    }
    guard let fields else { return .made(updated: nil) }
    // The time is compared with that of later lists, so it has to have their form.
    if let updated = json?["updated"]?.text, ServiceTime.isKnown(updated) {
      return .made(updated: updated)
    }
    let now = try await bookmark(id)
    guard fields.allSatisfy({ now.fields[$0.key] == $0.value }) else { throw tellsNothing(reply) }
    return .made(updated: now.updated)
  }

  /// A good answer to a request about one bookmark; throws for any other.
  ///
  /// Proxies, firewalls and login pages answer too, with any status. An answer that is not in the service's form says nothing
  /// about the bookmark, and is not told as the service's word.
  func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    let mayBeOthers =
      (300..<500).contains(reply.status) && ![401, 407, 408].contains(reply.status)
    if mayBeOthers, !Self.isError(reply) { throw tellsNothing(reply) }
    return try service.checked(reply)
  }

  /// Whether an answer has the form of the service's errors, or of the values that it does not accept.
  private static func isError(_ reply: Reply) -> Bool {
    guard let json = reply.json else { return false }
    let isMessage = json["message"]?.text != nil && json["status"] == .number(Double(reply.status))
    return isMessage || json["is_valid"]?.isTrue == false
  }

  private func tellsNothing(_ reply: Reply) -> ServiceError {
    if reply.isPage {
      return .wrongContent(path: reply.path, type: "a web page (\(reply.status))")
    }
    let reason =
      (200..<300).contains(reply.status)
      ? "it does not say that the change was made" : "it does not have the service's form"
    return .undecodable(path: reply.path, reason: "\(reason) (\(reply.status))")
  }
}

extension ServiceError {
  /// Whether there is no such thing.
  var isMissing: Bool {
    if case .refused(status: 404, _) = self { true } else { false }
  }

  /// Whether the credential is not valid, or does not suffice.
  var refusesUser: Bool {
    if case .refused(let status, _) = self { [401, 403, 407].contains(status) } else { false }
  }
}
