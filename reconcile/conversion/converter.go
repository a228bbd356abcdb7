package conversion

import (
	"errors"
	"fmt"
	"maps"

	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Functions convert between a version T and the hub. from must not be changed. to has the metadata of the object, and
// nothing else; metadata that they change is ignored. The error says why the object can't be converted, which fails the
// request of whoever reads or writes it: so don't refuse what the API server has stored.
type Functions[T, Hub any] struct {
	// Up converts to the hub, and Down from it.
	Up   func(from *T, to *Hub) error
	Down func(from *Hub, to *T) error
}

// Converter converts the objects of one kind between its versions. Add all versions before the first use. After that it
// is safe for concurrent use.
type Converter[Hub any] struct {
	hub    schema.GroupVersionKind
	domain string
	spokes map[string]spoke // by version
	// whole returns the content of an object of the hub as its type writes it.
	whole func(content map[string]any) (map[string]any, error)
	errs  []error
}

// spoke is a version that isn't the hub.
type spoke struct {
	up, down, whole func(content map[string]any) (map[string]any, error)
	version         Version
}

// New returns a Converter. hub is the version through which all others are converted: the one with the most fields, or
// the one that the operator uses.
func New[Hub any](hub schema.GroupVersionKind) *Converter[Hub] {
	c := &Converter[Hub]{hub: hub, domain: "operkit.dev", spokes: map[string]spoke{}, whole: whole[Hub]}
	if hub.Version == "" || hub.Kind == "" {
		c.fail("hub %q: a version and a kind are needed", hub)
	}
	if err := typed.Check[Hub](); err != nil {
		c.fail("hub %s: %w", hub.Version, err)
	}
	return c
}

// KeyDomain sets the domain of the annotations with what a version can't hold; default "operkit.dev".
func (c *Converter[Hub]) KeyDomain(domain string) { c.domain = domain }

// Kind returns the group and kind of the objects.
func (c *Converter[Hub]) Kind() schema.GroupKind { return c.hub.GroupKind() }

// Add adds a version with its functions. Mistakes are reported by Check.
func Add[T, Hub any](c *Converter[Hub], kind schema.GroupVersionKind, functions Functions[T, Hub]) {
	_, twice := c.spokes[kind.Version]
	switch {
	case kind.GroupKind() != c.hub.GroupKind():
		c.fail("%s: another kind than the hub %s", kind, c.hub)
	case kind.Version == c.hub.Version || twice:
		c.fail("version %s: is there twice", kind.Version)
	case functions.Up == nil || functions.Down == nil:
		c.fail("version %s: both functions are needed", kind.Version)
	}
	if err := typed.Check[T](); err != nil {
		c.fail("version %s: %w", kind.Version, err)
	}
	c.spokes[kind.Version] = spoke{converting(c.hub, functions.Up), converting(kind, functions.Down), whole[T], versionOf(kind, functions)}
}

// converting returns a typed function as one about contents.
func converting[From, To any](to schema.GroupVersionKind, f func(from *From, to *To) error) func(content map[string]any) (map[string]any, error) {
	return func(content map[string]any) (map[string]any, error) {
		source, err := typed.Decode[From](content)
		if err != nil {
			return nil, err
		}
		header := map[string]any{"apiVersion": to.GroupVersion().String(), "kind": to.Kind, "metadata": content["metadata"]}
		target, err := typed.Decode[To](header)
		if err != nil {
			return nil, err
		}
		if err := failure.Guard(func() error { return f(source, target) }); err != nil {
			return nil, err
		}
		converted, err := typed.Content(target)
		if err != nil {
			return nil, err
		}
		return headed(numberedMap(converted), header), nil
	}
}

// headed returns content with the apiVersion, kind and metadata of header, and without a status that is empty only
// because the type writes it so.
func headed(content, header map[string]any) map[string]any {
	maps.Copy(content, header)
	if status, ok := content["status"].(map[string]any); ok && len(status) == 0 {
		delete(content, "status")
	}
	return content
}

// whole returns content as T writes it: with the fields that T always writes, and without those that it doesn't have.
func whole[T any](content map[string]any) (map[string]any, error) {
	value, err := typed.Decode[T](content)
	if err != nil {
		return nil, err
	}
	written, err := typed.Content(value)
	return numberedMap(written), err
}

func (c *Converter[Hub]) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// Check returns all mistakes of the registration.
func (c *Converter[Hub]) Check() error {
	errs := c.errs
	if len(c.spokes) == 0 {
		errs = append(errs, errors.New("there is one version only: nothing to convert"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("conversion of %s: %w", c.hub.Kind, err)
	}
	return nil
}
