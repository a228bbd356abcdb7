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
	// Received is when the API server got it, by its own clock.
	Received time.Time
	// User is the user whom the API server authorized: the impersonated user if there is one.
	User string
	// UserAgent is what the client called itself.
	UserAgent string
	// Verb is Kubernetes' own: get, list, watch, create, update, patch, delete, deletecollection. It is the HTTP
	// method in small letters when Resource is empty.
	Verb string

	// Group, Version, Resource and Subresource are what the request is for, all empty when it isn't for a resource,
	// such as /healthz.
	Group, Version, Resource, Subresource string
	// Namespace and Name are those of the object: Name is empty for a list, Namespace at cluster scope and for all
	// namespaces.
	Namespace, Name string

	// Path is the path of the request, without its query.
	Path string
	// Code is the HTTP status of the answer, 0 when there was none.
	Code int
	// DryRun: the query asked for a dry run. A deletion may ask for one in its body instead, which the log doesn't show
	// below the level Request: it counts as a write.
	DryRun bool
}

// Target is the resource with group and subresource as RBAC names them: "configmaps", "deployments.apps",
// "deployments.apps/status"; the path when the request isn't for a resource.
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

// String is one line for a message of a failed test.
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

// IsWrite reports whether the request asked for stored state to change, whatever the answer. Dry runs don't; nor do
// access and token reviews, which are 'created' to ask a question.
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
