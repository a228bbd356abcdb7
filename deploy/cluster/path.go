package cluster

import (
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// path returns the URL path of ref, in segments. Without a name it is the path of the collection, in all namespaces if
// ref has no namespace. It returns an *InvalidManifestError if the name isn't a path segment (such as "web/status"), or
// if the namespace doesn't fit the scope of the kind.
func path(res resource, ref deploy.Ref, subresource string) ([]string, error) {
	if err := nameable(ref); err != nil {
		return nil, err
	}
	if ref.Name != "" || ref.Namespace != "" {
		if err := placed(res, ref); err != nil {
			return nil, err
		}
	}
	parts := []string{"/apis", res.Group, res.Version}
	if res.Group == "" {
		parts = []string{"/api", res.Version}
	}
	if ref.Namespace != "" {
		parts = append(parts, "namespaces", ref.Namespace)
	}
	parts = append(parts, res.Resource)
	if ref.Name != "" {
		parts = append(parts, ref.Name)
	}
	if subresource != "" {
		parts = append(parts, subresource)
	}
	return parts, nil
}

// creatable returns an error for a new object whose name or namespace isn't a path segment or doesn't fit the scope of
// its kind.
func creatable(res resource, ref deploy.Ref) error {
	if err := nameable(ref); err != nil {
		return err
	}
	return placed(res, ref)
}

func nameable(ref deploy.Ref) error {
	for field, part := range map[string]string{"metadata.name": ref.Name, "metadata.namespace": ref.Namespace} {
		if problems := content.IsPathSegmentName(part); len(problems) > 0 {
			return &deploy.InvalidManifestError{Ref: ref, Reason: field + " " + strings.Join(problems, ", ")}
		}
	}
	return nil
}

func placed(res resource, ref deploy.Ref) error {
	switch {
	case res.scope == deploy.ClusterScoped && ref.Namespace != "":
		return &deploy.InvalidManifestError{Ref: ref, Reason: "its kind is cluster-scoped: leave metadata.namespace out"}
	case res.scope == deploy.Namespaced && ref.Namespace == "":
		return &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.namespace is missing"}
	}
	return nil
}
