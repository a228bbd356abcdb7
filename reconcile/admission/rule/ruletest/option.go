package ruletest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Option is an option of CompileDefinition, CompilePolicy, New and NewPolicy.
type Option func(*options)

type options struct {
	versions   []string
	definition *unstructured.Unstructured
	oldest     string
	// environment is that of the oldest API server; nil is none.
	environment *environment.EnvSet
}

// Versions adds the rules to these versions of the definition only. By default they are added to all of them. It is for
// definitions.
func Versions(names ...string) Option {
	return func(o *options) { o.versions = names }
}

// Schema gives a policy the definition of its kind. Objects are then pruned, get their defaults, and are validated by
// the schema and the rules of the definition before the policy is evaluated, as on the API server. It is for policies.
func Schema(definition *unstructured.Unstructured) Option {
	return func(o *options) { o.definition = definition }
}

// Kubernetes also compiles the rules as an API server of this version does, such as "1.33", and reports what that
// server doesn't know yet. An API server accepts in new rules what the version before its own knows already, so that
// it can be downgraded.
func Kubernetes(minor string) Option {
	return func(o *options) { o.oldest = minor }
}

// optionsOf applies and checks options.
func optionsOf(opts []Option) (options, error) {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.oldest == "" {
		return o, nil
	}
	parsed, err := version.ParseGeneric(o.oldest)
	if err != nil {
		return o, fmt.Errorf("option Kubernetes: %w: use a version such as 1.33", err)
	}
	if parsed.Major() != 1 || parsed.Minor() < 30 || parsed.Minor() > newest().Minor() {
		return o, fmt.Errorf("option Kubernetes: version %s: use one from 1.30 to %s", o.oldest, newest())
	}
	o.environment = environment.MustBaseEnvSet(version.MajorMinor(1, parsed.Minor()-1))
	return o, nil
}

// newest returns the version of the API server whose libraries are linked.
func newest() *version.Version {
	compatible := environment.DefaultCompatibilityVersion()
	return version.MajorMinor(compatible.Major(), compatible.Minor()+1)
}

// errNoDefinition is returned for a nil definition.
var errNoDefinition = errors.New("nil definition: pass a CustomResourceDefinition, for example that of ruletest.Read")
