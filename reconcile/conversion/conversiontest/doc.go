// Package conversiontest tests the functions of a conversion.Converter: it generates objects from the Go types of all
// versions, converts them through all other versions, and compares.
//
//	func TestConversion(t *testing.T) { conversiontest.RoundTrips(t, shop.Versions()) }
//
//	func FuzzConversion(f *testing.F) { conversiontest.Fuzz(f, shop.Versions()) }
//
// # What it finds
//
//   - A function that panics or returns an error. The API server has accepted the object, so somebody can't read it any
//     more.
//   - A function that changes the object that it gets, or whose results differ for the same object. Both break what the
//     annotation keeps.
//   - An object that isn't the same after a way through other versions. Every field may be set, absent, null or empty,
//     and the metadata counts, too.
//   - A field that one function fills and the other one ignores: whoever edits it in one version finds that nothing
//     changes in the other one.
//   - With Keeps, a field that only the annotation keeps, since both functions have forgotten it.
//
// Of each mistake the smallest object is reported that still shows it.
//
// # What the types don't say
//
// A generated object has any value that its Go type can hold. If a schema allows fewer, set valid values by Valid. A
// string that is an enumeration is any text otherwise.
package conversiontest
