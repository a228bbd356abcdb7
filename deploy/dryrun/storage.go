package dryrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// address identifies an object in any version of its kind.
type address struct {
	kind      schema.GroupKind
	namespace string
	name      string
}

func addressOf(ref deploy.Ref) address {
	return address{ref.Kind.GroupKind(), ref.Namespace, ref.Name}
}

func (a address) compare(b address) int {
	return cmp.Or(strings.Compare(a.kind.Group, b.kind.Group), strings.Compare(a.kind.Kind, b.kind.Kind),
		strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// storage holds the objects, indexed by kind and by owner, and counts versions. The objects in it are never changed,
// only replaced. It is guarded by the lock of its Cluster.
type storage struct {
	kinds map[schema.GroupKind]map[address]*record
	// dependents are the addresses of the objects that have owner references, by the uid of the owner.
	dependents map[types.UID]map[address]struct{}
	// owners are the addresses of all objects, by their uids.
	owners map[types.UID]address
	// populations are the numbers of objects, by namespace.
	populations map[string]int
	// gone holds the uids of deleted objects.
	gone    map[types.UID]struct{}
	version uint64
	uids    uint64
	names   uint64
}

type record struct {
	object *unstructured.Unstructured
	// born is the resource version of the object's creation.
	born uint64
}

func newStorage() *storage {
	return &storage{
		kinds:       map[schema.GroupKind]map[address]*record{},
		dependents:  map[types.UID]map[address]struct{}{},
		owners:      map[types.UID]address{},
		populations: map[string]int{},
		gone:        map[types.UID]struct{}{},
	}
}

// get returns the object at an address, nil if there is none.
func (s *storage) get(at address) *unstructured.Unstructured {
	if found, ok := s.kinds[at.kind][at]; ok {
		return found.object
	}
	return nil
}

// ofKind returns the objects of a kind in a namespace ("": in all namespaces), ascending by namespace and name.
func (s *storage) ofKind(kind schema.GroupKind, namespace string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, at := range s.addressesOf(kind, namespace) {
		objects = append(objects, s.get(at))
	}
	return objects
}

// owned returns the objects of a kind that have an owner reference to owner, in a namespace ("": in all namespaces), in
// any order. It is empty while no objects exist in d's version.
func (s *storage) owned(d *declaration, namespace string, owner types.UID) []*unstructured.Unstructured {
	if d.unseen {
		return nil
	}
	var objects []*unstructured.Unstructured
	for at := range s.dependents[owner] {
		if at.kind == d.kind.GroupKind() && (namespace == "" || at.namespace == namespace) {
			objects = append(objects, s.get(at))
		}
	}
	return objects
}

// ofVersion is like ofKind, for one version of a kind. It is empty while no objects exist in that version.
func (s *storage) ofVersion(d *declaration, namespace string) []*unstructured.Unstructured {
	if d.unseen {
		return nil
	}
	return s.ofKind(d.kind.GroupKind(), namespace)
}

// addressesOf returns the addresses of the objects of a kind in a namespace ("": in all namespaces), ascending.
func (s *storage) addressesOf(kind schema.GroupKind, namespace string) []address {
	var all []address
	for at := range s.kinds[kind] {
		if namespace == "" || at.namespace == namespace {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, address.compare)
	return all
}

// inNamespace returns the addresses of the objects in a namespace, ascending.
func (s *storage) inNamespace(namespace string) []address {
	var all []address
	for kind := range s.kinds {
		all = append(all, s.addressesOf(kind, namespace)...)
	}
	slices.SortFunc(all, address.compare)
	return all
}

// all returns every object in the order of creation.
func (s *storage) all() []*unstructured.Unstructured {
	var records []*record
	for _, kind := range s.kinds {
		records = slices.AppendSeq(records, maps.Values(kind))
	}
	slices.SortFunc(records, func(a, b *record) int { return cmp.Compare(a.born, b.born) })
	objects := make([]*unstructured.Unstructured, len(records))
	for i, r := range records {
		objects[i] = r.object
	}
	return objects
}

// put stores obj with a new resourceVersion. obj belongs to the storage afterwards.
func (s *storage) put(at address, obj *unstructured.Unstructured) {
	s.version++
	obj.SetResourceVersion(strconv.FormatUint(s.version, 10))
	born := s.version
	if previous, ok := s.kinds[at.kind][at]; ok {
		born = previous.born
		s.unlink(at, previous.object)
	} else {
		s.owners[obj.GetUID()] = at
		s.populations[at.namespace]++
	}
	if s.kinds[at.kind] == nil {
		s.kinds[at.kind] = map[address]*record{}
	}
	s.kinds[at.kind][at] = &record{obj, born}
	for _, owner := range obj.GetOwnerReferences() {
		if s.dependents[owner.UID] == nil {
			s.dependents[owner.UID] = map[address]struct{}{}
		}
		s.dependents[owner.UID][at] = struct{}{}
	}
}

// remove removes the object at an address. last is the last state of the object. remove sets its resourceVersion to the
// resourceVersion of the removal.
func (s *storage) remove(at address, last *unstructured.Unstructured) {
	s.unlink(at, s.get(at))
	delete(s.kinds[at.kind], at)
	delete(s.owners, last.GetUID())
	if s.populations[at.namespace]--; s.populations[at.namespace] == 0 {
		delete(s.populations, at.namespace)
	}
	s.gone[last.GetUID()] = struct{}{}
	s.version++
	last.SetResourceVersion(strconv.FormatUint(s.version, 10))
}

func (s *storage) unlink(at address, obj *unstructured.Unstructured) {
	for _, owner := range obj.GetOwnerReferences() {
		delete(s.dependents[owner.UID], at)
		if len(s.dependents[owner.UID]) == 0 {
			delete(s.dependents, owner.UID)
		}
	}
}

// dependentsOf returns the addresses of the objects that name uid as an owner.
func (s *storage) dependentsOf(uid types.UID) []address {
	return slices.SortedFunc(maps.Keys(s.dependents[uid]), address.compare)
}

// uidPrefix is the prefix of generated uids. It is followed by a counter, so that the same calls create the same
// objects.
const uidPrefix = "d72770d0-0000-4000-8000-"

// nextUID returns the uid of the next object that is created.
func (s *storage) nextUID() types.UID {
	return types.UID(fmt.Sprintf("%s%012x", uidPrefix, s.uids+1))
}

// claimUID makes sure that nextUID doesn't return uid.
func (s *storage) claimUID(uid types.UID) {
	digits, ok := strings.CutPrefix(string(uid), uidPrefix)
	if !ok {
		return
	}
	if number, err := strconv.ParseUint(digits, 16, 48); err == nil && number > s.uids {
		s.uids = number
	}
}

// nameLetters are the letters of generated names, the same as on an API server. They don't form words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// longestName is the length of the longest generated name. nameGenerated is the number of generated letters at the end
// of such a name.
const (
	longestName   = 63
	nameGenerated = 5
)

// freeName returns a name that begins with prefix and that no object of the kind and namespace of at has.
func (s *storage) freeName(at address, prefix string) string {
	prefix = prefix[:min(len(prefix), longestName-nameGenerated)]
	for {
		s.names++
		letters := make([]byte, nameGenerated)
		number := s.names
		for i := range letters {
			letters[nameGenerated-1-i] = nameLetters[number%uint64(len(nameLetters))]
			number /= uint64(len(nameLetters))
		}
		at.name = prefix + string(letters)
		if s.get(at) == nil {
			return at.name
		}
	}
}
