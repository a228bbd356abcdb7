package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// wholeDiscovery requests all groups and versions in one response. A server that doesn't support it returns only the
// names of its groups.
const wholeDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// discovery describes a discovery request for a group and version, for use in errors.
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

// discover sends a discovery request and decodes the response into out.
func (r *requests) discover(ctx context.Context, subject failed, out any) error {
	path := subject.resource.Resource
	body, _, err := r.do(ctx, r.client.Get().AbsPath(path).SetHeader("Accept", wholeDiscovery), subject)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &deploy.UnavailableError{Err: fmt.Errorf("%s: the answer isn't a discovery document: %w", path, err)}
	}
	return nil
}

// Kinds implements deploy.Port. It returns the first version of a group that has the kind, in the API server's order of
// preference. It sends two requests each time, and more to a server that doesn't support wholeDiscovery.
func (p port) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	if name == "" {
		return nil, nil
	}
	byKind, byOther := map[schema.GroupKind]schema.GroupVersionKind{}, map[schema.GroupKind]schema.GroupVersionKind{}
	_, err := p.requests.eachKind(ctx, func(served deploy.ServedKind) {
		group := served.Kind.GroupKind()
		if _, better := byKind[group]; !better && served.Kind.Kind == name {
			byKind[group] = served.Kind
		}
		if _, better := byOther[group]; !better && (served.Resource == name || slices.Contains(served.Names, name)) {
			byOther[group] = served.Kind
		}
	})
	found := byKind
	if len(found) == 0 {
		found = byOther
	}
	return slices.SortedFunc(maps.Values(found), byGroupAndKind), err
}

func byGroupAndKind(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
}

// eachKind calls note for each version of each kind. The versions of a kind come in the API server's order of
// preference. eachKind continues after an error in one group, because the caller may look for a kind in another group.
// unknown reports which versions it didn't get.
func (r *requests) eachKind(ctx context.Context, note func(served deploy.ServedKind)) (unknown func(schema.GroupVersion) bool, err error) {
	var errs []error
	failed := map[schema.GroupVersion]bool{}
	unknown = func(version schema.GroupVersion) bool { return failed[version] }
	for _, root := range []string{"/api", "/apis"} {
		// The response has one of three forms with different fields.
		var answer struct {
			Items    []apidiscoveryv2.APIGroupDiscovery `json:"items"`
			Groups   []metav1.APIGroup                  `json:"groups"`
			Versions []string                           `json:"versions"`
		}
		if err := r.discover(ctx, discoveryOf(root), &answer); err != nil {
			return func(schema.GroupVersion) bool { return true }, err
		}
		for _, group := range answer.Items {
			for _, version := range group.Versions {
				of := schema.GroupVersion{Group: group.Name, Version: version.Version}
				if version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
					failed[of] = true
					errs = append(errs, &deploy.UnavailableError{Err: fmt.Errorf("group %s, version %s: its discovery isn't available at the moment", group.Name, version.Version)})
				}
				for _, entry := range version.Resources {
					if entry.ResponseKind != nil {
						note(servedKind(of, entry))
					}
				}
			}
		}
		for _, group := range answer.Groups {
			answer.Versions = append(answer.Versions, groupVersions(group)...)
		}
		for _, name := range answer.Versions {
			version, err := schema.ParseGroupVersion(name)
			if err == nil {
				err = r.noteServed(ctx, version, note)
				failed[version] = err != nil
			}
			errs = append(errs, err)
		}
	}
	return unknown, errors.Join(errs...)
}

// noteServed discovers the kinds of one group and version.
func (r *requests) noteServed(ctx context.Context, version schema.GroupVersion, note func(served deploy.ServedKind)) error {
	list := &metav1.APIResourceList{}
	if err := r.discover(ctx, discovery(version), list); err != nil {
		return err
	}
	for _, entry := range list.APIResources {
		if !isSubresource(entry) {
			note(deploy.ServedKind{
				Kind: version.WithKind(entry.Kind), Resource: entry.Name, Names: namesOf(entry.Kind, entry.SingularName, entry.ShortNames),
				Categories: entry.Categories, Verbs: entry.Verbs, Scope: scopeOf(entry.Namespaced),
			})
		}
	}
	return nil
}

func servedKind(version schema.GroupVersion, entry apidiscoveryv2.APIResourceDiscovery) deploy.ServedKind {
	return deploy.ServedKind{
		Kind: version.WithKind(entry.ResponseKind.Kind), Resource: entry.Resource, Names: namesOf(entry.ResponseKind.Kind, entry.SingularResource, entry.ShortNames),
		Categories: entry.Categories, Verbs: entry.Verbs, Scope: scopeOf(entry.Scope == apidiscoveryv2.ScopeNamespace),
	}
}

// namesOf returns the singular name, which some API servers leave out, and the short names of a kind.
func namesOf(kind, singular string, short []string) []string {
	return append([]string{cmp.Or(singular, strings.ToLower(kind))}, short...)
}

// groupVersions returns the versions of a group as "<group>/<version>", the preferred version first.
func groupVersions(group metav1.APIGroup) (versions []string) {
	for _, version := range append([]metav1.GroupVersionForDiscovery{group.PreferredVersion}, group.Versions...) {
		if version.Version != "" && !slices.Contains(versions, group.Name+"/"+version.Version) {
			versions = append(versions, group.Name+"/"+version.Version)
		}
	}
	return versions
}
