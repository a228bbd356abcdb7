package smp

import (
	"errors"
	"fmt"
	"strings"
)

// Select finds in the tree of a temporary patch what it says about one resource. The parts of the
// resource's internal name, which are separated by dots, are one level of the tree each:
// "web.deployment" selects what is at tree["web"]["deployment"] (spec: smp 3, 4).
//
// found is false where the tree has no such place, and where what is there is empty: then the patch
// isn't about this resource. A list on the way, where only objects can lead on, is a [*PatchError] of
// kind [Invalid] that names the place. Nothing is changed, and body is the tree's own.
func Select(tree any, internalName string) (body any, found bool, err error) {
	if internalName == "" {
		return nil, false, &PatchError{Kind: Invalid, Err: errors.New("the internal name of a resource is empty: it is <component>.<resource>")}
	}
	var place path
	at := tree
	for part := range strings.SplitSeq(internalName, ".") {
		object, isMap := at.(map[string]any)
		if _, isList := at.([]any); isList {
			return nil, false, &PatchError{Path: place.String(), Kind: Invalid, Err: fmt.Errorf(
				"a list where the parts of %q lead on: want an object", internalName)}
		}
		if !isMap {
			return nil, false, nil
		}
		next, exists := object[part]
		if !exists {
			return nil, false, nil
		}
		at, place = next, append(place, step{field: part})
	}
	return at, !empty(at), nil
}

// empty tells whether a patch says nothing.
func empty(body any) bool {
	switch body := body.(type) {
	case nil:
		return true
	case map[string]any:
		return len(body) == 0
	case []any:
		return len(body) == 0
	default:
		return false
	}
}
