package smp

import (
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// identity holds the fields that identify an object.
type identity struct {
	// known is false for documents that aren't Kubernetes objects. These have no identity.
	known                             bool
	apiVersion, kind, name, namespace any
}

// identityOf reads the identity of a document. It doesn't check the rest of the metadata.
func identityOf(doc any) identity {
	object, _ := doc.(map[string]any)
	_, versioned := object["apiVersion"].(string)
	_, kinded := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	return identity{
		known:      versioned && kinded,
		apiVersion: scalar(object["apiVersion"]), kind: scalar(object["kind"]),
		name: scalar(metadata["name"]), namespace: scalar(metadata["namespace"]),
	}
}

// scalar returns value, or nil for a map or list, which can't be a name.
func scalar(value any) any {
	if nested(value) {
		return nil
	}
	return value
}

// check returns an error if the document after has another identity, since it would be another object then.
func (i identity) check(after any, o options) error {
	if !i.known || o.identityChange {
		return nil
	}
	got := identityOf(after)
	for _, field := range []struct {
		path        string
		before, now any
	}{
		{"/apiVersion", i.apiVersion, got.apiVersion},
		{"/kind", i.kind, got.kind},
		{"/metadata/name", i.name, got.name},
		{"/metadata/namespace", i.namespace, got.namespace},
	} {
		if !document.Equal(field.before, field.now) {
			return &PatchError{Path: field.path, Kind: Identity, Err: fmt.Errorf(
				"the patch changes it from %s to %s, which makes another object: give AllowIdentityChange if that is intended",
				identityText(field.before), identityText(field.now))}
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
