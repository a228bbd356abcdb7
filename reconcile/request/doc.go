// Package request has the types that the engine, which decides when an object is reconciled, and a reconciler exchange:
// the request, the result, and classified errors.
//
// Both sides import it and neither imports the other, so that several styles of operator run on one engine. It does
// nothing by itself. Controllers use it for its errors, such as [Precondition] and [Configuration].
package request
