package smp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mode is how strictly a strategic merge patch is read.
type Mode uint8

const (
	// Kubernetes does what the API server does (spec: smp 24). It is the default.
	Kubernetes Mode = iota
	// Strict gives the same results and refuses patches of which something would silently do nothing,
	// is dropped, or is ambiguous: a deletion of an element that isn't there, a field that the kind
	// doesn't have, an order for no list, other fields beside a mark (spec: smp 25). A null for a field
	// that isn't there is none of these.
	Strict
	// Oper8 keeps patches written for oper8 working: its table of merge keys instead of the schema
	// (see [MergeKeys]), the document's order of elements, and $patch in elements as oper8 reads it
	// (spec: smp 26).
	Oper8
)

// UnknownPolicy is what happens to documents of which it isn't known how they merge.
type UnknownPolicy uint8

const (
	// AtomicLists merges maps and replaces lists, as RFC 7386 does; $patch and $retainKeys in maps
	// are honoured, directives about lists are errors (spec: smp 28). It is the default.
	AtomicLists UnknownPolicy = iota
	// Refuse is an error, as the API server answers for custom resources.
	Refuse
)

// Option says how a patch is applied or made. Of two that say the same thing differently the later
// one counts; nil is no option.
type Option func(options) options

type options struct {
	mode           Mode
	unknown        UnknownPolicy
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
	// DefaultMaxDepth is how deep documents and patches may be nested.
	DefaultMaxDepth = 100
	// DefaultMaxBytes is how large JSON and YAML texts may be, and the results of copy operations.
	DefaultMaxBytes = 100 << 20
)

// Shared lets the result share with the document and the patch what the patch doesn't change; only
// the path to a change is copied. Neither the result nor the inputs may be written to afterwards.
// Without it the result shares nothing with either.
func Shared() Option { return func(o options) options { o.shared = true; return o } }

// InMode reads strategic merge patches in a mode.
func InMode(mode Mode) Option { return func(o options) options { o.mode = mode; return o } }

// ForUnknown says what happens to documents whose schema isn't known.
func ForUnknown(policy UnknownPolicy) Option {
	return func(o options) options { o.unknown = policy; return o }
}

// AllowIdentityChange lets a patch change apiVersion, kind, metadata.name and metadata.namespace,
// which is an error of kind [Identity] otherwise (spec: smp 27). [JSON] and [Merge] take a document
// for an object of Kubernetes when it has an apiVersion and a kind; others they change as they are told.
func AllowIdentityChange() Option {
	return func(o options) options { o.identityChange = true; return o }
}

// MergeKeys is the table by which lists merge in the mode [Oper8], instead of its own one: from a
// position, as in "Deployment.spec.template.spec.containers", to the key of the elements there. A
// position is the kind and the fields below it; lists on the way add nothing.
func MergeKeys(table map[string]string) Option {
	return func(o options) options { o.mergeKeys = table; return o }
}

// Named is the name of the patch, for errors.
func Named(name string) Option { return func(o options) options { o.name = name; return o } }

// MaxDepth bounds how deep documents and patches may be nested; [DefaultMaxDepth] unless told
// otherwise. Zero and less is the default.
func MaxDepth(depth int) Option { return func(o options) options { o.limits.depth = depth; return o } }

// MaxBytes bounds the size of JSON and YAML texts, and how much the copy operations of one JSON
// patch may add, in bytes; [DefaultMaxBytes] unless told otherwise. Zero and less is the default.
func MaxBytes(bytes int) Option { return func(o options) options { o.limits.bytes = bytes; return o } }

// newOptions is the one place where options are validated.
func newOptions(list []Option) (options, error) {
	var o options
	for _, option := range list {
		if option != nil {
			o = option(o)
		}
	}
	if o.limits.depth <= 0 {
		o.limits.depth = DefaultMaxDepth
	}
	if o.limits.bytes <= 0 {
		o.limits.bytes = DefaultMaxBytes
	}
	return o, o.validate()
}

func (o options) validate() error {
	switch {
	case o.mode > Oper8:
		return o.invalid("there is no mode %d: use Kubernetes, Strict or Oper8", o.mode)
	case o.unknown > Refuse:
		return o.invalid("there is no policy %d for unknown kinds: use AtomicLists or Refuse", o.unknown)
	case o.mergeKeys != nil && o.mode != Oper8:
		return o.invalid("MergeKeys is for the mode Oper8: use InMode(Oper8), or a schema")
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

// kubernetesOnly refuses the mode Oper8 where patches are made: they are Kubernetes' own.
func (o options) kubernetesOnly() error {
	if o.mode == Oper8 {
		return o.invalid("no patches are made for the mode Oper8: leave InMode out")
	}
	return nil
}
