// Package changes compares two states of an object for a reader: it names the elements of lists.
package changes
