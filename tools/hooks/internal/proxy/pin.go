package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// typeJSONPatch is a list of operations.
const typeJSONPatch = "application/json-patch+json"

// pins reports whether a call writes the owner of its run, or its status.
func (c *call) pins() bool {
	return c.isOwner && (c.verb == "update" || c.verb == "patch") && (c.target.subresource == "" || c.target.subresource == "status")
}

// pin lets a write of the owner fail if the owner is gone, also if there is another one with its name. Otherwise a run
// that ends late could create its owner anew.
func (c *call) pin(ctx context.Context, p *Proxy) *refusal {
	if c.contentType == typeJSONPatch {
		var operations []json.RawMessage
		if err := unmarshal(c.body, &operations); err != nil {
			return badRequest("body: it isn't a list of operations in JSON: %v", err)
		}
		test := encode(map[string]any{"op": "test", "path": "/metadata/uid", "value": c.access.owner.uid})
		c.body = encode(slices.Insert(operations, 0, test))
		return nil
	}
	contentType := c.contentType
	if !slices.Contains(whole, contentType) && contentType != typeApply {
		contentType = typeJSON // the other patches have the form of an object
	}
	found, refused := decodeObject(c.body, contentType)
	if refused != nil {
		return refused
	}
	found.pin(c.access.owner.uid)
	if refused := c.put(found); refused != nil || c.verb != "patch" || c.target.subresource == "" {
		return refused
	}
	return c.isThere(ctx, p)
}

// isThere refuses a write if the owner is gone. It is for patches of the status, of which the API server ignores the
// metadata.
func (c *call) isThere(ctx context.Context, p *Proxy) *refusal {
	of := c.target
	of.path = of.path[:len(of.path)-1]
	live, refused := c.live(ctx, p, of)
	if refused != nil {
		return refused
	}
	if live == nil || live.UID != c.access.owner.uid {
		return refuse(http.StatusConflict, metav1.StatusReasonConflict, "%s: %s is gone, and with it what this run is for: end the run", of, c.access.owner)
	}
	return nil
}

// put makes an object the body.
func (c *call) put(found object) *refusal {
	var err error
	if c.body, err = found.encode(); err != nil {
		return badRequest("body: %v", err)
	}
	if c.contentType == typeYAML {
		c.contentType = typeJSON
	}
	return nil
}
