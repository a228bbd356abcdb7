package explore

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// privateKeys matches keys whose values are private, whatever they look like. Their last word says so: secretName
	// is the name of a Secret.
	privateKeys = regexp.MustCompile(`(?i)(pass|passwd|password|passphrase|token|secret|credentials?|(private|secret|access|api)[-_. ]?key)[-_. ]?[0-9]*$`)
	// lastWord matches the last word of a key: secretName, token-expiry, PGHOST.
	lastWord = regexp.MustCompile(`[A-Za-z][a-z0-9]*$|[A-Z0-9]+$`)
	// public are last words of keys whose values say where or what something is.
	public = []string{
		"ref", "reference", "host", "port", "address", "endpoint", "user", "database", "namespace", "path", "file", "kind", "type", "version",
		"region", "bucket", "expiry", "expires", "expiration", "date", "time", "at", "length", "size", "count", "enabled", "required",
	}
	// plainWords matches words, names of hosts, addresses and paths.
	plainWords = regexp.MustCompile(`^[-._/:@ ]*([A-Za-z]{1,12}|[0-9]{1,5})([-._/:@ ]+([A-Za-z]{1,12}|[0-9]{1,5}))*[-._/:@ ]*$`)
	// common are long words that show everywhere. Others are shorter than what is searched for.
	common = []string{"password", "username", "postgres", "administrator", "database", "disabled", "kubernetes", "anonymous", "undefined", "certificate"}
)

// private reports whether a value of a Secret must not show. One that is short, a time, a common word or a public
// certificate may show, and so may plain words, such as the name of a user or of a host, unless the key says otherwise.
func private(key, value string) bool {
	trimmed := strings.TrimSpace(value)
	switch {
	case len(trimmed) < shortest, slices.Contains(common, strings.ToLower(trimmed)), isTime(trimmed), strings.HasPrefix(trimmed, "-----BEGIN CERTIFICATE"):
		return false
	case privateKeys.MatchString(key):
		return true
	}
	word := strings.ToLower(lastWord.FindString(key))
	return !strings.HasSuffix(word, "name") && !slices.Contains(public, word) && !plainWords.MatchString(value)
}
