// Package pack reads and writes the packs of git: files that hold many objects, some of them as differences to others, each with an index beside it. Reading
// takes what may have been made by somebody who means harm: sizes are checked before memory is taken for them, chains of differences have an end, and
// what doesn't fit is [ErrBroken]. Whether content is what its name says is for the caller to check.
//
// go-git has packs too. It takes several times as long for a checkout, since it unpacks byte by byte and makes new memory for each object, and it can
// neither copy an object as it is packed nor tell the kind of one without unpacking it.
package pack
