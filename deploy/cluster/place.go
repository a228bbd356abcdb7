package cluster

// place is where in an object's metadata a value is, as far as that says whether its texts are its own or those of many.
type place int

const (
	// anywhere texts are those of many.
	anywhere place = iota
	// ownText is a text of the object's own.
	ownText
	inMetadata
	// inTexts are labels and annotations.
	inTexts
	inReferences
	inReference
	inEntries
	inEntry
	inFieldSet
	// inFields are those of the metadata in a field set, inOwners the keys of owners there.
	inFields
	inOwners
)

// metadataPlaces are those of metadata's fields; what isn't among them is the object's own.
var metadataPlaces = map[string]place{
	"namespace": anywhere, "labels": inTexts, "annotations": inTexts, "ownerReferences": inReferences, "managedFields": inEntries, "finalizers": anywhere,
}

// below is the place of a field, or of an item of a list.
func (at place) below(key string) place {
	switch at {
	case inMetadata:
		if place, ok := metadataPlaces[key]; ok {
			return place
		}
		return ownText
	case inTexts:
		return ownText
	case inReferences:
		return inReference
	case inEntries:
		return inEntry
	}
	switch {
	case at == inReference && (key == "name" || key == "uid"), at == inEntry && key == "time":
		return ownText
	case at == inEntry && key == "fieldsV1":
		return inFieldSet
	case at == inFieldSet && key == "f:metadata":
		return inFields
	case at == inFields && key == "f:ownerReferences":
		return inOwners
	}
	return anywhere
}
