package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is what a path names: a resource, or a document about the API.
type target struct {
	// path has the parts of the path, decoded.
	path []string
	// resource is empty for a document.
	resource schema.GroupVersionResource
	// namespace is empty for all namespaces, and for what has none. name is empty for all objects.
	namespace, name, subresource string
}

// parsePath returns what an escaped path names. Only one form of each path is taken, so that the API server reads it in
// the same way: no empty parts, no "." or "..", and no slash that is escaped. One slash at the end is ignored.
func parsePath(escaped string) (target, error) {
	rest, ok := strings.CutPrefix(escaped, "/")
	if !ok {
		return target{}, fmt.Errorf("path %q doesn't begin with a slash", escaped)
	}
	rest = strings.TrimSuffix(rest, "/")
	if rest == "" {
		return target{}, nil
	}
	var t target
	for _, part := range strings.Split(rest, "/") {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return target{}, fmt.Errorf("path %q: %w", escaped, err)
		}
		isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
		if decoded == "" || decoded == "." || decoded == ".." || strings.ContainsAny(decoded, "/%\\") || strings.ContainsFunc(decoded, isControl) {
			return target{}, fmt.Errorf("path %q: the part %q isn't a name", escaped, part)
		}
		t.path = append(t.path, decoded)
	}
	return t, t.resolve()
}

// resolve sets the fields that the parts of the path name.
func (t *target) resolve() error {
	parts := t.path
	switch {
	case parts[0] == "api" && len(parts) > 2:
		t.resource, parts = schema.GroupVersionResource{Version: parts[1]}, parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		t.resource, parts = schema.GroupVersionResource{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return nil
	}
	if parts[0] == "watch" || parts[0] == "proxy" { // the API server takes these for verbs
		return fmt.Errorf("path %s: %q isn't a resource: to watch, list with watch=true", t, parts[0])
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !slices.Contains([]string{"status", "finalize"}, parts[2]) {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	return nil
}

// String returns the path, decoded.
func (t target) String() string { return "/" + strings.Join(t.path, "/") }

// isDocument reports whether the path names a document about the API: what it serves, how, and in which version.
func (t target) isDocument() bool {
	if t.resource.Resource != "" || len(t.path) == 0 {
		return false
	}
	switch t.path[0] {
	case "api", "apis":
		return true
	case "openapi":
		return len(t.path) == 2 && t.path[1] == "v2" || len(t.path) > 1 && t.path[1] == "v3"
	default:
		return len(t.path) == 1 && t.path[0] == "version"
	}
}

// full returns the resource with its subresource, such as "pods/exec".
func (t target) full() string {
	if t.subresource == "" {
		return t.resource.Resource
	}
	return t.resource.Resource + "/" + t.subresource
}

// verb returns what a method does with the target, empty if it can't be.
func (t target) verb(method string) string {
	switch {
	case method == "GET" || method == "HEAD":
		return "read"
	case method == "POST" && (t.name == "" || t.subresource != ""):
		return "create"
	case method == "PUT" && t.name != "":
		return "update"
	case method == "PATCH" && t.name != "":
		return "patch"
	case method == "DELETE" && t.name == "":
		return "deletecollection"
	case method == "DELETE":
		return "delete"
	default:
		return ""
	}
}
