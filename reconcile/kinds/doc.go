// Package kinds reconciles kinds that are found at run time: all kinds that a [Selector] matches, such as those of the
// groups "*.example.dev", get a reconciler each, made by one function. A [Driver] starts the reconciler of a kind when
// the kind is first served, and ends it when the kind isn't served or selected any more. Then the watches of the kind
// stop, and its state is dropped. Only the watches of kinds that its objects followed stay.
//
// A kind is reconciled in one version: the most preferred one that the selector matches. When that changes, the
// reconciler is ended and a new one is made. Kinds that can't be reconciled, because they can't be listed and watched
// or because a name means several kinds, are logged once and left out.
//
// # When to use it
//
// Use it, mostly through Operator.DriveKinds of package operator, for kinds that aren't known when the operator is
// written. For kinds that are known use Engine.Control of package watch: it waits for a kind that isn't served yet.
package kinds
