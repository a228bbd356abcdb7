package reconcile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// VersionField sets where a resource says which version it wants, as a path of fields; default
// "spec.version". A resource without the field wants none in particular.
func VersionField(path string) Option { return func(o *options) { o.versionField = path } }

// VersionOverride has every resource want this version, whatever it says itself.
func VersionOverride(version string) Option { return func(o *options) { o.versionOverride = version } }

// SupportedVersions are the versions that the operator offers; the status names them.
func SupportedVersions(versions ...string) Option {
	return func(o *options) { o.supported = append([]string{}, versions...) }
}

// StrictVersions refuses resources that want no version or one that isn't among SupportedVersions, which
// must be given then. Kinds of which a pattern of path.Match matches the name are exempt; default
// "TemporaryPatch*" (spec: reconcile 39, mistake 29).
func StrictVersions(exempt ...string) Option {
	return func(o *options) {
		o.strict = true
		if len(exempt) > 0 {
			o.exempt = exempt
		}
	}
}

// OperatorVersion is the version of the operator itself; the status names it (spec: reconcile 52).
func OperatorVersion(version string) Option { return func(o *options) { o.operatorVersion = version } }

// Version returns the version that the resource wants, empty for none.
func (s *Session) Version() string { return s.version }

// CurrentVersion returns the version that the resource was last brought to, as its status says; empty
// before that.
func (s *Session) CurrentVersion() string {
	content, _ := s.resource.Object["status"].(map[string]any)
	return status.ReconciledVersion(content)
}

// versionOf reads the version that a resource wants. One that isn't text is an error.
func (o *options) versionOf(described *unstructured.Unstructured) (string, error) {
	if o.versionOverride != "" {
		return o.versionOverride, nil
	}
	version, _, err := unstructured.NestedString(described.Object, strings.Split(o.versionField, ".")...)
	if err != nil {
		return "", Configuration("%s: %s is no text: quote it", deploy.RefOf(described), o.versionField)
	}
	return version, nil
}

// checkVersion refuses what StrictVersions asks to refuse.
func (o *options) checkVersion(s *Session) error {
	if !o.strict || slices.ContainsFunc(o.exempt, func(pattern string) bool { return matches(pattern, s.Kind().Kind) }) {
		return nil
	}
	switch {
	case s.version == "":
		return Configuration("%s: %s is missing: choose one of %s", deploy.RefOf(s.resource), o.versionField, strings.Join(o.supported, ", "))
	case !slices.Contains(o.supported, s.version):
		return Configuration("%s: version %q isn't supported: choose one of %s", deploy.RefOf(s.resource), s.version, strings.Join(o.supported, ", "))
	}
	return nil
}

func matches(pattern, kind string) bool {
	ok, err := path.Match(pattern, kind)
	return err == nil && ok
}

// validateVersions finds what can't be at start (spec: reconcile mistake 25).
func (o *options) validateVersions() error {
	switch {
	case o.versionField == "" || slices.Contains(strings.Split(o.versionField, "."), ""):
		return fmt.Errorf("version field %q: is no path of fields such as spec.version", o.versionField)
	case o.strict && len(o.supported) == 0:
		return fmt.Errorf("strict versions: no version is supported: name them with SupportedVersions")
	}
	for _, pattern := range o.exempt {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("strict versions: exempt %q: %w", pattern, err)
		}
	}
	return nil
}
