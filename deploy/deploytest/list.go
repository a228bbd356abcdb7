package deploytest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selecting parses a selector of labels.
func (s *scene) selecting(text string) labels.Selector {
	s.Helper()
	selector, err := labels.Parse(text)
	s.ok(err)
	return selector
}

// list reads ConfigMaps past any cache.
func (s *scene) list(options deploy.ListOptions) []*unstructured.Unstructured {
	s.Helper()
	found, err := s.port().List(s.Context(), configMap, s.Namespace, options)
	s.ok(err)
	return found
}

// three makes ConfigMaps c, a and b with labels.
func (s *scene) three() {
	for name, marks := range map[string]map[string]string{"c": {"tier": "web", "live": ""}, "a": {"tier": "db"}, "b": {"tier": "web"}} {
		obj := s.config(name, "{}")
		obj.SetLabels(marks)
		s.create("operkit", obj)
	}
}

var listCases = []Case{
	{"list/order", "the same list is the same every time", func(s *scene) {
		s.three()
		equal(s, []string{"a", "b", "c"}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names")
	}},
	{"list/content", "an item is the whole object, kind included", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		found := s.list(deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", "settings")})
		equal(s, 1, len(found), "objects")
		equal(s, s.get(deploy.RefOf(obj)).Object, found[0].Object, "the item")
	}},
	{"list/by labels", "every form of selector means what it means elsewhere", func(s *scene) {
		s.three()
		for text, want := range map[string][]string{
			"tier=web": {"b", "c"}, "tier!=web,tier": {"a"}, "tier in (db, web)": {"a", "b", "c"}, "tier notin (web),tier": {"a"},
			"live": {"c"}, "!live,tier": {"a", "b"}, "tier=none": {},
		} {
			equal(s, want, names(s.list(deploy.ListOptions{Labels: s.selecting(text)})), "names by "+text)
		}
	}},
	{"list/by fields", "one object is found by its name", func(s *scene) {
		s.three()
		equal(s, []string{"b"}, names(s.list(deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", "b")})), "names")
		both := deploy.ListOptions{Fields: fields.OneTermNotEqualSelector("metadata.name", "b"), Labels: s.selecting("tier=web")}
		equal(s, []string{"c"}, names(s.list(both)), "names by both")
	}},
	{"list/by a field that can't be", "a selector isn't ignored", func(s *scene) {
		_, err := s.port().List(s.Context(), configMap, s.Namespace, deploy.ListOptions{Fields: fields.OneTermEqualSelector("data.a", "1")})
		fails[*deploy.InvalidError](s, err)
	}},
	{"list/all namespaces", "ascending by namespace, then by name", func(s *scene) {
		other := s.Namespace + "-x"
		_, err := s.Others.Port().Create(s.Context(), s.unplaced("{apiVersion: v1, kind: Namespace, metadata: {name: "+other+"}}"), deploy.CreateOptions{})
		s.ok(err)
		where := []string{other, s.Namespace}
		for _, namespace := range where {
			for _, name := range []string{"b", "a"} {
				obj := s.config(name, "{}")
				obj.SetNamespace(namespace)
				obj.SetLabels(map[string]string{"case": s.Namespace})
				_, err := s.Others.Port().Create(s.Context(), obj, deploy.CreateOptions{})
				s.ok(err)
			}
		}
		found, err := s.Others.Port().List(s.Context(), configMap, "", deploy.ListOptions{Labels: s.selecting("case=" + s.Namespace)})
		s.ok(err)
		got := []string{}
		for _, obj := range found {
			got = append(got, obj.GetNamespace()+"/"+obj.GetName())
		}
		slices.Sort(where)
		equal(s, []string{where[0] + "/a", where[0] + "/b", where[1] + "/a", where[1] + "/b"}, got, "objects")
		s.ok(s.Others.Port().Delete(s.Context(), deploy.Ref{Kind: namespace, Name: other}, deploy.DeleteOptions{}))
	}},
	{"list/nothing", "no objects are no error, wherever", func(s *scene) {
		s.widgets()
		found, err := s.port().List(s.Context(), widget, s.Namespace, deploy.ListOptions{})
		s.ok(err)
		equal(s, 0, len(found), "objects")
		found, err = s.Others.Port().List(s.Context(), configMap, s.Namespace+"-none", deploy.ListOptions{})
		s.ok(err)
		equal(s, 0, len(found), "objects of a namespace that doesn't exist")
	}},
	{"list/cluster-scoped", "objects without a namespace are listed without one", func(s *scene) {
		found, err := s.Others.Port().List(s.Context(), namespace, "", deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", s.Namespace)})
		s.ok(err)
		equal(s, []string{s.Namespace}, names(found), "names")
	}},
	{"list/live", "a list sees what others have just written", func(s *scene) {
		obj := s.config("theirs", "{}")
		obj.SetLabels(map[string]string{"tier": "web"})
		_, err := s.Others.Port().Create(s.Context(), obj, deploy.CreateOptions{})
		s.ok(err)
		equal(s, []string{"theirs"}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names")
		s.ok(s.Others.Port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		equal(s, []string{}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names after the deletion")
	}},
}
