// Package request holds what passes between the engine, which decides when an object is reconciled, and a reconciler:
// the request, the result, and the errors with what they mean.
//
// Both sides import it and neither imports the other, so that several styles of operator run on one engine. It does
// nothing by itself. Controllers use it for its errors, such as [Precondition] and [Configuration].
package request
