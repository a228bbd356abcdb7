package smp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mode sets how strictly a strategic merge patch is read.
type Mode uint8

const (
	// Kubernetes gives the same results as the API server. It is the default.
	Kubernetes Mode = iota
	// Strict gives the same results, but refuses a patch if a part of it would silently do nothing, be dropped, or be
	// ambiguous. Such parts are the deletion of a missing element, a field that the kind doesn't have, an order without
	// a list, and other fields beside a $patch. A null for a missing field is allowed.
	Strict
	// Oper8 applies patches that were written for oper8: lists merge by oper8's table of keys instead of the schema
	// (see [MergeKeys]), elements keep the document's order, and $patch in elements is read as oper8 reads it.
	Oper8
)

// Option sets how a patch is applied or made. If an option is given twice, the last one wins. A nil Option is ignored.
// With an invalid Option, the called function returns an error of kind [Invalid].
type Option func(options) options

type options struct {
	mode           Mode
	shared         bool
	identityChange bool
	name           string
	mergeKeys      map[string]string
	limits         limits
}

type limits struct {
	depth, bytes int
}

const (
	defaultMaxDepth = 100
	defaultMaxBytes = 100 << 20
)

// Shared allows the result to share unchanged parts with the document and the patch, so that less is copied. Neither
// the result nor the arguments may be written to afterwards.
func Shared() Option { return func(o options) options { o.shared = true; return o } }

// InMode sets the mode in which strategic merge patches are read.
func InMode(mode Mode) Option { return func(o options) options { o.mode = mode; return o } }

// AllowIdentityChange allows a patch to change apiVersion, kind, metadata.name and metadata.namespace, which is an
// error of kind [Identity] otherwise. [JSON] and [Merge] check this for documents that have an apiVersion and a kind.
func AllowIdentityChange() Option {
	return func(o options) options { o.identityChange = true; return o }
}

// MergeKeys sets the table by which lists merge in the mode [Oper8], instead of its default table. It maps a position,
// such as "Deployment.spec.template.spec.containers", to the key of the elements there. A position is the kind and the
// names of the fields below it. Elements of lists aren't part of it.
func MergeKeys(table map[string]string) Option {
	return func(o options) options { o.mergeKeys = table; return o }
}

// Named sets the name of the patch, for errors.
func Named(name string) Option { return func(o options) options { o.name = name; return o } }

// Within limits the input, because patches may come from people who aren't trusted. depth is the number of levels that
// documents and patches may be nested. bytes is the maximum size of a text, and of all values that the copy operations
// of one JSON patch add. A zero stands for the default: 100 levels, and 100 MiB.
func Within(depth, bytes int) Option {
	return func(o options) options { o.limits = limits{depth, bytes}; return o }
}

// newOptions applies and validates the options.
func newOptions(list []Option) (options, error) {
	var o options
	for _, option := range list {
		if option != nil {
			o = option(o)
		}
	}
	err := o.validate()
	o.limits.depth = cmp.Or(o.limits.depth, defaultMaxDepth)
	o.limits.bytes = cmp.Or(o.limits.bytes, defaultMaxBytes)
	return o, err
}

func (o options) validate() error {
	switch {
	case o.mode > Oper8:
		return o.invalid("unknown mode %d: use Kubernetes, Strict or Oper8", o.mode)
	case o.mergeKeys != nil && o.mode != Oper8:
		return o.invalid("MergeKeys is for the mode Oper8: use InMode(Oper8), or a schema")
	case o.limits.depth < 0:
		return o.invalid("Within: depth %d: use zero for the default, or a positive number", o.limits.depth)
	case o.limits.bytes < 0:
		return o.invalid("Within: %d bytes: use zero for the default, or a positive number", o.limits.bytes)
	}
	if len(o.mergeKeys) == 0 {
		return nil
	}
	return o.validateMergeKeys()
}

func (o options) validateMergeKeys() error {
	for _, position := range slices.Sorted(maps.Keys(o.mergeKeys)) {
		parts := strings.Split(position, ".")
		if len(parts) < 2 || slices.Contains(parts, "") || o.mergeKeys[position] == "" {
			return o.invalid("MergeKeys: %q: %q: want the position of a list, as Kind.field.field, and the key of its elements",
				position, o.mergeKeys[position])
		}
	}
	return nil
}

func (o options) invalid(format string, args ...any) error {
	return &PatchError{Patch: o.name, Kind: Invalid, Err: fmt.Errorf(format, args...)}
}

// kubernetesOnly returns an error in the mode Oper8, because functions that make patches make them for Kubernetes.
func (o options) kubernetesOnly() error {
	if o.mode == Oper8 {
		return o.invalid("can't make patches for the mode Oper8: leave InMode out")
	}
	return nil
}
