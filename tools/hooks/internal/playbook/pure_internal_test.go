package playbook

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The names are those that the Ansible operator gives.
func TestSnakeCase(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"": "", "var": "var", "888": "888", "k8s_var": "k8s_var", "_k8s_var": "_k8s_var", "k8s var": "k8s_var", "foo-bar": "foo_bar",
		"ThisShouldHaveUnderscores": "_this_should_have_underscores", "sizeK8sBuckets": "size_k8s_buckets", "Data": "_data",
		"_CanYou_Handle_mixedVars": "_can_you_handle_mixed_vars", "JSONData": "_json_data", "fooB": "foo_b", "aB": "ab", "aBc": "a_bc",
		"a1b2": "a_1_b2", "k8sVar": "k8s_var", "foo_": "foo_", " foo ": "foo", "ÄpfelBaum": "äpfel_baum", "fooÄb": "fooäb",
		"egressIP": "egress_ip", "egressIPs": "egress_ips", "egressIPsEgress": "egress_ips_egress", "IPsX": "_ips_x", "IP": "__ip",
		"IPAddress": "ip_address", "ipAddress": "ip_address", "URLPath": "url_path", "baseURL": "base_url", "baseURLs": "base_urls",
		"HTTPPort": "http_port", "MULTIPle": "_mult_ip_le", "IPURL": "ip__url", "HTTPURL": "http__url", "IPIP": "ip_ip",
	} {
		t.Run("hooks 74: "+from, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, snakeCase(from))
		})
	}
}

func FuzzSnakeCase(f *testing.F) {
	f.Add("egressIPsEgress")
	f.Add("a1b2")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, name string) {
		got := snakeCase(name)
		for _, letter := range []byte(got) {
			assert.False(t, isUpper(letter) || letter == ' ' || letter == '-', got)
		}
		letters := func(text string) string {
			return strings.NewReplacer("_", "", " ", "", "-", "").Replace(strings.ToLower(text))
		}
		if utf8.ValidString(name) {
			assert.Equal(t, letters(name), letters(got), "no letter is lost")
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("{\"event\": \"task\", \"name\": \"a\", \"status\": \"failed\", \"message\": \"b\"}\n{\"event\": \"stats\", \"failures\": 1}\n"))
	f.Add([]byte("{\"event\": \"task\", \"action\": \"requeue_after\", \"status\": \"ok\", \"period\": \"1h\"}\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		result, hasStats, err := readEvents(bytes.NewReader(text))
		if err != nil {
			assert.Nil(t, result)
			assert.False(t, hasStats)
			return
		}
		require.NotNil(t, result)
		for _, count := range []int{result.OK, result.Changed, result.Failures, result.Skipped, result.Unreachable, result.Rescued, result.Ignored} {
			assert.GreaterOrEqual(t, count, 0)
			assert.True(t, hasStats || count == 0)
		}
		for _, task := range result.Failed {
			assert.LessOrEqual(t, len(task.Message), maxMessage+3)
			assert.Equal(t, printable(task.Message, maxMessage+3), task.Message)
		}
		if result.RequeueAfter != nil {
			assert.False(t, *result.RequeueAfter < 0)
		}
	})
}
