package versions

import semantic "k8s.io/apimachinery/pkg/util/version"

// compare warns if the program says that it is another release than its folder. It is used all the same: who builds an image may have reasons.
func (v *version) compare(release string) {
	if otherRelease(v.name, release) {
		v.pool.options.Logger.Warn("the program of a version says that it is another release: is it in the right folder?", "version", v.name, "release", release)
	}
}

// otherRelease tells whether both are releases, and not the same one. What is built between two releases, such as v1.2.1-0.20260102150405-abcdefabcdef,
// may be meant for any folder.
func otherRelease(folder, release string) bool {
	is, err := semantic.ParseSemantic(release)
	if err != nil || is.PreRelease() != "" || is.BuildMetadata() != "" {
		return false
	}
	wanted, err := semantic.ParseSemantic(folder)
	return err == nil && !wanted.EqualTo(is)
}
