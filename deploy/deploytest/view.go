package deploytest

import (
	"slices"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watch makes the View watch kinds, and waits until the existing objects were delivered.
func (s *scene) watch(kinds ...schema.GroupVersionKind) {
	s.Helper()
	for _, kind := range kinds {
		s.subscribe(kind)
	}
}

// seen returns the object that the View shows, nil if it shows none.
func (s *scene) seen(ref deploy.Ref) *unstructured.Unstructured {
	s.Helper()
	obj, err := s.Cluster.View().Get(s.Context(), ref)
	s.ok(err)
	return obj
}

// selected returns the names of the ConfigMaps that the View lists for a label selector.
func (s *scene) selected(selector string) []string {
	s.Helper()
	found, err := s.Cluster.View().List(s.Context(), configMap, s.Namespace, s.selecting(selector))
	s.ok(err)
	return names(found)
}

var viewCases = []Case{
	{"view/unwatched", "a kind that isn't watched can be read, too", func(s *scene) {
		ref := deploy.RefOf(s.settings("{}"))
		s.is(s.seen(ref) == nil, "the View shows an object that wasn't created yet")
		obj := s.create("operkit", s.settings("{a: '1'}"))
		equal(s, held(obj), held(s.seen(ref)), "object in the View")
		s.delete(ref)
		s.is(s.seen(ref) == nil, "the View shows the object after its deletion")
	}},
	{"view/watched", "reads of a watched kind return the objects as they are stored", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.watch(configMap)
		equal(s, held(before), held(s.seen(deploy.RefOf(before))), "object in the View")
		s.is(s.seen(deploy.RefOf(s.config("none", "{}"))) == nil, "an absent object is shown")
	}},
	{"view/own writes", "a read is never older than our last write, whatever the verb of the write", ownWrites},
	{"view/own writes in lists", "selectors match our own writes, too", func(s *scene) {
		s.watch(configMap)
		for round := 1; round <= 20; round++ {
			s.apply("operkit", labelled(s.settings("{n: '"+strconv.Itoa(round)+"'}"), "round", strconv.Itoa(round)))
			equal(s, []string{"settings"}, s.selected("round="+strconv.Itoa(round)), "names")
			equal(s, []string{}, s.selected("round="+strconv.Itoa(round-1)), "names by the previous label")
		}
	}},
	{"view/deleted and made anew", "a read returns the new object, not the old object and not nil", func(s *scene) {
		s.watch(configMap)
		for range 20 {
			obj := s.create("operkit", s.settings("{}"))
			equal(s, obj.GetUID(), s.seen(deploy.RefOf(obj)).GetUID(), "uid")
			s.delete(deploy.RefOf(obj))
			s.is(s.seen(deploy.RefOf(obj)) == nil, "the View shows the object after its deletion")
		}
	}},
	{"view/being deleted", "a read shows the deletion that we requested", func(s *scene) {
		s.widgets()
		s.watch(widget)
		obj := s.held("operkit.dev/a")
		s.is(s.seen(deploy.RefOf(obj)).GetDeletionTimestamp() != nil, "no deletionTimestamp")
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":null}}`)
		s.is(s.seen(deploy.RefOf(obj)) == nil, "the View shows the object after its last finalizer was removed")
	}},
	{"view/dry run", "a read doesn't show the result of a dry run", func(s *scene) {
		s.watch(configMap)
		before := s.apply("operkit", s.settings("{a: '1'}"))
		s.send(s.settings("{a: '2'}"), dryAsOperkit)
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(before), deploy.DeleteOptions{DryRun: true}))
		equal(s, held(before), held(s.seen(deploy.RefOf(before))), "object in the View")
	}},
	{"view/writes of others", "writes of others are shown eventually", func(s *scene) {
		s.watch(configMap)
		ref := deploy.RefOf(s.apply("operkit", s.settings("{a: '1'}")))
		s.others().merge("kubectl", ref, `{"data":{"a":"2"}}`)
		s.eventually(func() bool { return data(s.seen(ref))["a"] == "2" }, "the View shows the new value")
		s.others().delete(ref)
		s.eventually(func() bool { return s.seen(ref) == nil }, "the View shows the deletion")
	}},
	{"view/list", "lists are ascending by name and support every form of selector", func(s *scene) {
		s.three()
		s.watch(configMap)
		for text, want := range map[string][]string{
			"tier": {"a", "b", "c"}, "tier=web": {"b", "c"}, "tier notin (web),tier": {"a"}, "!live,tier": {"a", "b"}, "tier=none": {},
		} {
			equal(s, want, s.selected(text), "names by "+text)
		}
		found, err := s.Cluster.View().List(s.Context(), configMap, s.Namespace, nil)
		s.ok(err)
		s.is(len(found) >= 3, "without a selector: %v", names(found))
	}},
	{"view/by owner", "objects are found by their owner, also after our own writes", byOwner},
}

// byOwner tests that a deploy.OwnedView finds the objects of an owner while own writes create and delete them.
func byOwner(s *scene) {
	view, ok := s.Cluster.View().(deploy.OwnedView)
	if !ok {
		return
	}
	owner, other := s.create("operkit", s.config("owner", "{}")), s.create("operkit", s.config("other", "{}"))
	s.create("operkit", s.config("nobody", "{}"))
	found := func(what string, want ...string) {
		s.Helper()
		objects, err := view.Owned(s.Context(), configMap, s.Namespace, owner.GetUID())
		s.ok(err)
		got := names(objects)
		slices.Sort(got)
		equal(s, append([]string{}, want...), got, what)
	}
	found("names before the objects are created")
	s.create("operkit", ownedBy(s.config("b", "{}"), owner))
	s.create("operkit", ownedBy(s.config("a", "{}"), owner))
	s.create("operkit", ownedBy(s.config("c", "{}"), other))
	both := s.create("operkit", ownedBy(s.config("d", "{}"), other, owner))
	found("names", "a", "b", "d")
	s.watch(configMap)
	found("names once the kind is watched", "a", "b", "d")
	s.merge("operkit", deploy.RefOf(both), `{"metadata":{"ownerReferences":null}}`)
	found("names after a reference was removed", "a", "b")
	s.delete(deploy.RefOf(s.config("a", "{}")))
	found("names after a deletion", "b")
}

func ownWrites(s *scene) {
	s.watch(configMap)
	ref := deploy.RefOf(s.settings("{}"))
	for round := range 10 {
		obj := s.create("operkit", s.settings("{}"))
		s.sees(ref, obj, "create")
		obj = s.force("operkit", s.settings("{a: '"+strconv.Itoa(round)+"'}"))
		s.sees(ref, obj, "apply")
		obj = s.merge("kubectl", ref, `{"data":{"b":"`+strconv.Itoa(round)+`"}}`)
		s.sees(ref, obj, "patch")
		obj = s.update("kubectl", with(obj, map[string]any{"c": strconv.Itoa(round)}))
		s.sees(ref, obj, "update")
		s.delete(ref)
		s.is(s.seen(ref) == nil, "delete: the View still shows the object")
	}
}

// sees fails the case unless the View shows the object that was written.
func (s *scene) sees(ref deploy.Ref, written *unstructured.Unstructured, verb string) {
	s.Helper()
	seen := s.seen(ref)
	if seen == nil {
		s.Fatalf("%s: the View shows no object", verb)
	}
	equal(s, held(written), held(seen), "object in the View after "+verb)
}

// selecting parses a label selector.
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

// three creates ConfigMaps c, a and b with labels.
func (s *scene) three() {
	for name, marks := range map[string]map[string]string{"c": {"tier": "web", "live": ""}, "a": {"tier": "db"}, "b": {"tier": "web"}} {
		obj := s.config(name, "{}")
		obj.SetLabels(marks)
		s.create("operkit", obj)
	}
}

var listCases = []Case{
	{"list/order", "lists have a fixed order", func(s *scene) {
		s.three()
		equal(s, []string{"a", "b", "c"}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names")
	}},
	{"list/content", "an item is the whole object, including its kind", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		found := s.list(deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", "settings")})
		equal(s, 1, len(found), "objects")
		equal(s, s.get(deploy.RefOf(obj)).Object, found[0].Object, "the item")
	}},
	{"list/by labels", "every form of label selector works as in Kubernetes", func(s *scene) {
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
	{"list/by a field that can't be", "an unsupported selector isn't ignored", func(s *scene) {
		_, err := s.port().List(s.Context(), configMap, s.Namespace, deploy.ListOptions{Fields: fields.OneTermEqualSelector("data.a", "1")})
		fails[*deploy.InvalidError](s, err)
	}},
	{"list/all namespaces", "ascending by namespace, then by name", func(s *scene) {
		other, remove := s.elsewhere()
		defer remove()
		where := []string{other, s.Namespace}
		for _, namespace := range where {
			for _, name := range []string{"b", "a"} {
				s.others().create("operkit", in(namespace, labelled(s.config(name, "{}"), "case", s.Namespace)))
			}
		}
		found, err := s.Others.Port().List(s.Context(), configMap, "", deploy.ListOptions{Labels: s.selecting("case=" + s.Namespace)})
		s.ok(err)
		got := each(found, func(obj *unstructured.Unstructured) string { return obj.GetNamespace() + "/" + obj.GetName() })
		slices.Sort(where)
		equal(s, []string{where[0] + "/a", where[0] + "/b", where[1] + "/a", where[1] + "/b"}, got, "objects")
	}},
	{"list/nothing", "an empty list is no error, also in a namespace that doesn't exist", func(s *scene) {
		s.widgets()
		found, err := s.port().List(s.Context(), widget, s.Namespace, deploy.ListOptions{})
		s.ok(err)
		equal(s, 0, len(found), "objects")
		found, err = s.Others.Port().List(s.Context(), configMap, s.Namespace+"-none", deploy.ListOptions{})
		s.ok(err)
		equal(s, 0, len(found), "objects of a namespace that doesn't exist")
	}},
	{"list/cluster-scoped", "cluster-scoped objects are listed without a namespace", func(s *scene) {
		found, err := s.Others.Port().List(s.Context(), namespace, "", deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", s.Namespace)})
		s.ok(err)
		equal(s, []string{s.Namespace}, names(found), "names")
	}},
	{"list/live", "a list shows what others have just written", func(s *scene) {
		obj := s.others().create("kubectl", labelled(s.config("theirs", "{}"), "tier", "web"))
		equal(s, []string{"theirs"}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names")
		s.others().delete(deploy.RefOf(obj))
		equal(s, []string{}, names(s.list(deploy.ListOptions{Labels: s.selecting("tier")})), "names after the deletion")
	}},
}
