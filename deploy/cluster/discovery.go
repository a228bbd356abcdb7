package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// wholeDiscovery asks for all groups and versions in one answer. A server that can't do that answers with the names of
// its groups.
const wholeDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// discovery is the subject of a request for what a group and version serves.
func discovery(version schema.GroupVersion) failed {
	path := "/apis/" + version.String()
	if version.Group == "" {
		path = "/api/" + version.Version
	}
	return discoveryOf(path)
}

func discoveryOf(path string) failed {
	return failed{verb: "get", resource: resource{GroupVersionResource: schema.GroupVersionResource{Resource: path}}}
}

// discover decodes the answer to subject into out.
func (r *requests) discover(ctx context.Context, subject failed, out any) error {
	path := subject.resource.Resource
	body, _, err := r.do(ctx, r.client.Get().AbsPath(path).SetHeader("Accept", wholeDiscovery), subject)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &deploy.UnavailableError{Err: fmt.Errorf("%s: the answer is no discovery: %w", path, err)}
	}
	return nil
}

// kindNames is a kind with the names that people use for it.
type kindNames struct {
	kind  schema.GroupVersionKind
	names []string
}

// Kinds implements deploy.Port. It takes the first version of a group that has the kind, in the order that the API
// server prefers. It sends two requests each time.
func (p port) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	if name == "" {
		return nil, nil
	}
	byKind, byOther := map[schema.GroupKind]schema.GroupVersionKind{}, map[schema.GroupKind]schema.GroupVersionKind{}
	note := func(entry kindNames) {
		group := entry.kind.GroupKind()
		if _, better := byKind[group]; !better && entry.kind.Kind == name {
			byKind[group] = entry.kind
		}
		if _, better := byOther[group]; !better && slices.Contains(entry.names, name) {
			byOther[group] = entry.kind
		}
	}
	err := p.eachKind(ctx, note)
	found := byKind
	if len(found) == 0 {
		found = byOther
	}
	return slices.SortedFunc(maps.Values(found), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	}), err
}

// eachKind calls note for each kind, with versions in the order that the API server prefers. It goes on after an error
// in one group, which may have nothing to do with the kind that is looked for.
func (p port) eachKind(ctx context.Context, note func(kindNames)) error {
	var errs []error
	for _, root := range []string{"/api", "/apis"} {
		// The answer has one of three forms, with other fields each.
		var answer struct {
			Items    []apidiscovery.APIGroupDiscovery `json:"items"`
			Groups   []metav1.APIGroup                `json:"groups"`
			Versions []string                         `json:"versions"`
		}
		if err := p.requests.discover(ctx, discoveryOf(root), &answer); err != nil {
			return err
		}
		for _, group := range answer.Items {
			for _, version := range group.Versions {
				if version.Freshness == apidiscovery.DiscoveryFreshnessStale {
					errs = append(errs, &deploy.UnavailableError{Err: fmt.Errorf("group %s, version %s: what it serves isn't known at the moment", group.Name, version.Version)})
				}
				noteVersion(schema.GroupVersion{Group: group.Name, Version: version.Version}, version, note)
			}
		}
		for _, version := range append(preferred(answer.Groups), core(answer.Versions)...) {
			errs = append(errs, p.noteServed(ctx, version, note))
		}
	}
	return errors.Join(errs...)
}

func noteVersion(version schema.GroupVersion, found apidiscovery.APIVersionDiscovery, note func(kindNames)) {
	for _, entry := range found.Resources {
		if entry.ResponseKind != nil {
			note(kindNames{version.WithKind(entry.ResponseKind.Kind), append(entry.ShortNames, entry.Resource, entry.SingularResource)})
		}
	}
}

// noteServed is noteVersion for a group and version of which only the name is known.
func (p port) noteServed(ctx context.Context, version schema.GroupVersion, note func(kindNames)) error {
	list := &metav1.APIResourceList{}
	if err := p.requests.discover(ctx, discovery(version), list); err != nil {
		return err
	}
	for _, entry := range list.APIResources {
		if !isSubresource(entry) {
			note(kindNames{version.WithKind(entry.Kind), append(entry.ShortNames, entry.Name, entry.SingularName)})
		}
	}
	return nil
}

// preferred returns the versions of groups, the preferred one of each group first.
func preferred(groups []metav1.APIGroup) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for _, group := range groups {
		first := schema.GroupVersion{Group: group.Name, Version: group.PreferredVersion.Version}
		if first.Version != "" {
			versions = append(versions, first)
		}
		for _, other := range group.Versions {
			if other.Version != first.Version {
				versions = append(versions, schema.GroupVersion{Group: group.Name, Version: other.Version})
			}
		}
	}
	return versions
}

func core(names []string) []schema.GroupVersion {
	versions := make([]schema.GroupVersion, len(names))
	for i, name := range names {
		versions[i] = schema.GroupVersion{Version: name}
	}
	return versions
}
