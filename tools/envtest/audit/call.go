package audit

import (
	"fmt"
	"strings"
	"time"
)

// Call is one answered request. Resource is empty for a request that isn't for a resource, such as discovery; such
// a request has a Path.
type Call struct {
	// ID is the API server's id of the request.
	ID string
	// Received is when the API server got the request, by the server's clock.
	Received time.Time
	// User is the user whom the API server authorized: the impersonated user if there is one.
	User string
	// UserAgent is the client's User-Agent header.
	UserAgent string
	// Verb is the Kubernetes verb: get, list, watch, create, update, patch, delete, deletecollection. If Resource is
	// empty, it is the HTTP method in lower case.
	Verb string

	// Group, Version, Resource and Subresource identify the requested resource. All are empty for a request that isn't
	// for a resource, such as /healthz.
	Group, Version, Resource, Subresource string
	// Namespace and Name identify the object. Name is empty for a list. Namespace is empty for a cluster-scoped object
	// and for a request across all namespaces.
	Namespace, Name string

	// Path is the path of the request, without its query.
	Path string
	// Code is the HTTP status of the response, 0 if there was no response.
	Code int
	// DryRun reports whether the query asked for a dry run. A deletion may ask for a dry run in its body instead. The
	// log shows bodies only at the level Request or above, so such a deletion counts as a write.
	DryRun bool
}

// Target returns the resource with its group and subresource, such as "configmaps", "deployments.apps" or
// "deployments.apps/status". For a request that isn't for a resource it returns the path.
func (c Call) Target() string {
	if c.Resource == "" {
		return c.Path
	}
	target := c.Resource
	if c.Group != "" {
		target += "." + c.Group
	}
	if c.Subresource != "" {
		target += "/" + c.Subresource
	}
	return target
}

// String returns the call as one line, for the message of a failed test.
func (c Call) String() string {
	var line strings.Builder
	line.WriteString(c.Verb + " " + c.Target())
	if object := strings.Trim(c.Namespace+"/"+c.Name, "/"); object != "" {
		line.WriteString(" " + object)
	}
	fmt.Fprintf(&line, " -> %d", c.Code)
	if c.DryRun {
		line.WriteString(" (dry run)")
	}
	line.WriteString(" by " + c.User)
	return line.String()
}

// IsWrite reports whether the request asked to change stored state, even if it was refused. Dry runs aren't writes, and
// neither are access and token reviews, which are created only to get an answer.
func (c Call) IsWrite() bool { return c.changes() && !c.DryRun && !c.isReview() }

// IsRead reports whether the request was a get or a list of a resource.
func (c Call) IsRead() bool { return c.Resource != "" && (c.Verb == "get" || c.Verb == "list") }

// IsWatch reports whether the request was a watch.
func (c Call) IsWatch() bool { return c.Verb == "watch" }

func (c Call) changes() bool {
	switch c.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return c.Resource != ""
	}
	return false
}

func (c Call) isReview() bool {
	return c.Group == "authorization.k8s.io" || c.Group == "authentication.k8s.io"
}
