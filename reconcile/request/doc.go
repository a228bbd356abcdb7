// Package request has the types that an engine and a reconciler exchange: the request, the result, and classified
// errors. The engine decides when an object is reconciled.
//
// Both sides import it and neither imports the other, so that several styles of operator run on one engine. It does
// nothing by itself. Controllers use it for its errors, such as [Precondition] and [Configuration].
package request
