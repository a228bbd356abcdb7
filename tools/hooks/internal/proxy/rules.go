package proxy

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// connecting are subresources that lead past the API: into containers, to the network, or to the kubelet.
var connecting = []string{"exec", "attach", "portforward", "proxy"}

// parse sets what a request is, or refuses what no run may do.
func (c *call) parse(r *http.Request) *refusal {
	if r.Method == "CONNECT" || r.Header.Get("Upgrade") != "" || slices.ContainsFunc(r.Header.Values("Connection"), isUpgrade) {
		return forbidden("upgraded connections, such as for exec, attach and port-forward, aren't supported: use a Job, or a request without one")
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			return forbidden("%s: a run can't impersonate: its requests are those of the ServiceAccount %s", name, c.access.grant.ServiceAccount)
		}
	}
	var err error
	if c.target, err = parsePath(r.URL.EscapedPath()); err != nil {
		return badRequest("%v", err)
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest("query of %s: %v", c.target, err)
	}
	c.isDry = query.Has("dryRun")
	if c.verb = c.target.verb(r.Method); c.verb == "" || c.target.resource.Resource == "" && c.verb != "read" {
		return refuse(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "%s: the method %s isn't allowed", c.target, r.Method)
	}
	if c.verb == "read" && r.ContentLength != 0 {
		return badRequest("%s: %s with a body", c.target, r.Method)
	}
	return c.reach()
}

func isUpgrade(header string) bool { return strings.Contains(strings.ToLower(header), "upgrade") }

// reach refuses targets that no run may reach.
func (c *call) reach() *refusal {
	t := c.target
	if t.resource.Resource == "" {
		if !t.isDocument() {
			return forbidden("%s: a run may reach resources, and /api, /apis, /openapi and /version: the operator itself can use its own connection", t)
		}
		return nil
	}
	first, _, _ := strings.Cut(t.subresource, "/")
	switch {
	case slices.Contains(connecting, first):
		return forbidden("%s: connections to containers, Pods, Services and nodes aren't supported: use a Job that does it inside the cluster", t.full())
	case t.resource.Group == "" && t.full() == "serviceaccounts/token":
		return forbidden("serviceaccounts/token: a token would outlive the run: mount the ServiceAccount in a Pod that needs it")
	case t.resource.Group == "" && t.resource.Resource == "nodes" && first != "" && first != "status":
		return forbidden("%s: the kubelet isn't reached through the proxy", t.full())
	}
	return nil
}

// allow refuses a write of an object whose kind isn't declared.
func (c *call) allow(ctx context.Context, p *Proxy) *refusal {
	if c.asksAboutItself() {
		return nil
	}
	kind, ok, err := p.kinds.of(ctx, c.target.resource)
	switch {
	case err != nil:
		return refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "%s: can't discover its kind: %v", c.target.resource.GroupResource(), err)
	case !ok:
		return refuse(http.StatusNotFound, metav1.StatusReasonNotFound, "%s: the API server doesn't serve this resource in version %s: install its CustomResourceDefinition", c.target.resource.GroupResource(), c.target.resource.Version)
	}
	c.kind = kind
	o := c.access.owner
	c.isOwner = kind.GroupKind() == o.kind.GroupKind() && c.target.name == o.name && c.target.namespace == o.namespace
	if c.pins() {
		return nil
	}
	if !c.access.kinds[kind.GroupKind()] {
		version, name := kind.ToAPIVersionAndKind()
		return forbidden("%s %s: a run of %s may not write objects of the kind %s: add {apiVersion: %s, kind: %s} to manages in watches.yaml", c.verb, c.target.full(), o, kind.GroupKind(), version, name)
	}
	return nil
}

// asksAboutItself reports whether a request asks who the caller is and what it may do, as in kubectl auth can-i. It is a
// creation, but nothing is stored.
func (c *call) asksAboutItself() bool {
	if c.verb != "create" || c.target.name != "" || c.target.namespace != "" {
		return false
	}
	return slices.Contains([]schema.GroupResource{
		{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
		{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
		{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	}, c.target.resource.GroupResource())
}
