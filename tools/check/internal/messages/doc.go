// Package messages compares the page of messages in the guide with the code: each reason, each warning and error in the
// log, and each exported error has an entry, and no entry is about something that the code doesn't have.
//
// The source is read without types. Found are:
//
//   - reasons: constants with Reason in their name or type, values of fields named Reason, and the reasons in the calls
//     of package status/readiness
//   - reasons of events: constants whose name begins with Event, and constant arguments of methods named Event
//   - lines in the log: constant messages of calls such as logger.Warn and logger.Log, also when a function passes the
//     message on as one of its parameters
//   - errors: exported types with a method Error, and exported variables whose name begins with Err, of packages that
//     others can import
package messages
