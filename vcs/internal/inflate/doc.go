// Package inflate unpacks zlib streams whose length is known, out of memory and into memory, at about twice the speed of compress/zlib: it is what most of
// the time of a checkout goes into. The sum at the end of a stream isn't compared: who unpacks the objects of git compares a better one. For streams of
// unknown length, and those that don't fit into memory, use compress/zlib.
package inflate
