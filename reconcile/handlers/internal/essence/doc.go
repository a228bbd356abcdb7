// Package essence returns the part of an object that its users decide: what is compared with the part that was handled
// last, to find out whether there is anything to do.
//
// The essence has every field outside of metadata and status, the labels, and the annotations that no operator keeps
// for itself. Fields that handlers name are added.
package essence
