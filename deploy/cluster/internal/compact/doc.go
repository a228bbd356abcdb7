// Package compact stores objects in little memory.
//
// [Pool.Encode] keeps a whole object as the maps that JSON decodes to, but shares parts that equal those of another
// object, as most parts that one template has rendered do. [Pool.EncodeMetadata] keeps only metadata, as a shape that
// the objects of a template share and one string with the rest: names, uids, versions, values of labels and
// annotations. [Object.Decode] returns either as an unstructured object.
//
// Of 1000 Deployments of five images, with owners and two managers each, one takes 9.2 KB of the heap, and its metadata
// 0.5 KB. Without sharing it would be 27.9 KB; without sharing texts 11.0 KB.
package compact
