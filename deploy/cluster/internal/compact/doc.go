// Package compact makes objects small that a store holds for long.
//
// [Pool.Encode] keeps a whole object as the maps that JSON decodes to, but shares those that equal another object's:
// most of what one template has rendered. [Pool.EncodeMetadata] keeps only metadata, as a shape that the objects of a
// template have in common and one string with what differs: names, uids, versions, values of labels and annotations.
// [Object.Decode] returns either as an unstructured object.
//
// Of 1000 Deployments of five images, with owners and two managers each, one takes 9.2 KB of the heap, and its metadata
// 0.5 KB. Without sharing it would be 27.9 KB; without sharing texts 11.0 KB.
package compact
