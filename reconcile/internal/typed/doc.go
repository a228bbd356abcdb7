// Package typed converts objects between maps, the form in which a View returns them, and the Go types of users. A
// change that was made to a Go value becomes a merge patch (RFC 7386), so that fields that the type doesn't have stay
// in the object.
package typed
