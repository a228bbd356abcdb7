package dryrun

import (
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// sendable refuses, before it is a request, what names no object: without a name, with a name that
// would lead elsewhere on a server, such as "web/status", with a namespace where there must be none, or
// without one where there must be one (spec: deploy W1). A kind that isn't served is for the request
// to tell.
func (p port) sendable(ref deploy.Ref) error {
	if ref.Name == "" {
		return &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.name is missing"}
	}
	return p.placeable(ref)
}

// placeable is sendable for what may be without a name.
func (p port) placeable(ref deploy.Ref) error {
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	if problems := content.IsPathSegmentName(ref.Name); len(problems) > 0 {
		return invalid("metadata.name " + strings.Join(problems, ", "))
	}
	if problems := content.IsPathSegmentName(ref.Namespace); len(problems) > 0 {
		return invalid("metadata.namespace " + strings.Join(problems, ", "))
	}
	d, err := p.declared(ref.Kind)
	if err != nil {
		return nil //nolint:nilerr // the request answers it
	}
	switch {
	case d.scope == deploy.ClusterScoped && ref.Namespace != "":
		return invalid("its kind is cluster-scoped: leave metadata.namespace out")
	case d.scope == deploy.Namespaced && ref.Namespace == "":
		return invalid("metadata.namespace is missing")
	}
	return nil
}
