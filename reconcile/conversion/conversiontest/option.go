package conversiontest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Option is an option of RoundTrips, Fuzz and Check. nil is ignored.
type Option func(*options)

type options struct {
	objects int
	seed    uint64
	valid   map[reflect.Type]func(object any)
	derived map[string][]string // by version
	keeps   map[string][]string // by version
}

// Objects sets how many objects of each version are generated; default 100.
func Objects(n int) Option { return func(o *options) { o.objects = n } }

// Seed sets the number that all generated objects follow from; default 1.
func Seed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// Valid sets a function that makes a generated object of a version valid, as its schema demands, such as by replacing
// any other text by one of an enumeration. It must be deterministic.
func Valid[T any](change func(object *T)) Option {
	return func(o *options) {
		o.valid[reflect.TypeFor[T]()] = func(object any) {
			if typed, ok := object.(*T); ok {
				change(typed)
			}
		}
	}
}

// Derived declares that fields of a version are only for reading: they follow from other fields, and an edit of them
// needn't reach the other versions. A path such as "status.summary" stands for all fields below it, too. Several
// options add up.
func Derived(version string, paths ...string) Option {
	return func(o *options) { o.derived[version] = append(o.derived[version], paths...) }
}

// Keeps declares the fields of a version that another version can't hold, so that the annotation keeps them. If it is
// given for a version, every other field of it that only the annotation keeps is reported. Without paths that is every
// field. Several options add up.
func Keeps(version string, paths ...string) Option {
	return func(o *options) { o.keeps[version] = append(o.keeps[version], paths...) }
}

// Converter is a *conversion.Converter for any hub.
type Converter interface {
	// Check returns mistakes of the registration.
	Check() error
	// Versions returns the versions, the hub first.
	Versions() []conversion.Version
	// Convert returns an object in another version.
	Convert(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)
}

func newOptions(c Converter, opts []Option) (options, error) {
	o := options{objects: 100, seed: 1, valid: map[reflect.Type]func(any){}, derived: map[string][]string{}, keeps: map[string][]string{}}
	optional.Apply(&o, opts)
	if err := c.Check(); err != nil {
		return o, err
	}
	var errs []error
	if o.objects < 1 {
		errs = append(errs, fmt.Errorf("objects: %d: at least 1 is needed", o.objects))
	}
	versions := map[string]bool{}
	types := map[reflect.Type]bool{}
	for _, v := range c.Versions() {
		versions[v.Kind.Version], types[v.Type] = true, true
	}
	for option, fields := range map[string]map[string][]string{"derived": o.derived, "keeps": o.keeps} {
		for version := range fields {
			if !versions[version] {
				errs = append(errs, fmt.Errorf("%s %s: the converter has no such version", option, version))
			}
		}
	}
	for t := range o.valid {
		if !types[t] {
			errs = append(errs, fmt.Errorf("valid %s: no version has this type", t))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return o, errors.Join(errs...)
}

// covers reports whether one of the paths is path, or above it.
func covers(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(one string) bool {
		rest, found := strings.CutPrefix(path, one)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
