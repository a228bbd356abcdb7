// Package index keeps tables in which handlers look up what the objects of another kind say, such as which Pods use a
// volume. A function returns the values of an object by key, and a table has the values of all objects.
//
// The table is in memory and sends no requests. An update takes time in proportion to the number of keys of its object,
// however many objects there are. An object with one key takes about 270 bytes, besides the texts of the key and the
// value: see BenchmarkTable.
package index
