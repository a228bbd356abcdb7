package smp

import (
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// identity holds the fields that identify an object.
type identity struct {
	// known is false for documents that aren't Kubernetes objects. These have no identity.
	known  bool
	values [len(identityPaths)]any
}

// identityPaths are the paths of the values of an identity.
var identityPaths = [...]string{"/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"}

// identityOf reads the identity of a document. It doesn't check the rest of the metadata.
func identityOf(doc any) identity {
	object, _ := doc.(map[string]any)
	_, versioned := object["apiVersion"].(string)
	_, kinded := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	i := identity{known: versioned && kinded}
	for n, value := range []any{object["apiVersion"], object["kind"], metadata["name"], metadata["namespace"]} {
		switch value.(type) {
		case map[string]any, []any: // can't be a name
		default:
			i.values[n] = value
		}
	}
	return i
}

// check returns an error if the document after has another identity, because it is another object then.
func (i identity) check(after any, o options) error {
	if !i.known || o.identityChange {
		return nil
	}
	got := identityOf(after)
	for n, path := range identityPaths {
		if !document.Equal(i.values[n], got.values[n]) {
			return &PatchError{Path: path, Kind: Identity, Err: fmt.Errorf(
				"the patch changes it from %s to %s, which makes another object: give AllowIdentityChange if that is intended",
				identityText(i.values[n]), identityText(got.values[n]))}
		}
	}
	return nil
}

func identityText(value any) string {
	if value == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", fmt.Sprint(value))
}
