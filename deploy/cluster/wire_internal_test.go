package cluster

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPeekMetadata(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Unix(1_700_000_000, 0))
	whole := metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "7"}
	more := whole
	more.Generation, more.CreationTimestamp, more.Labels = 300, now, map[string]string{"uid": "no"}
	more.OwnerReferences = []metav1.OwnerReference{{UID: "no"}}
	deleting := whole
	deleting.DeletionTimestamp = &now
	for reason, row := range map[string]struct {
		metadata metav1.ObjectMeta
		want     string // namespace, name, uid, version
	}{
		"what names a state":        {whole, "b a u 7"},
		"what else is in it":        {more, "b a u 7"},
		"of no namespace":           {metav1.ObjectMeta{Name: "a", UID: "u", ResourceVersion: "7"}, " a u 7"},
		"one that is being deleted": {deleting, ""},
		"without a version":         {metav1.ObjectMeta{Name: "a", UID: "u"}, ""},
		"without a uid":             {metav1.ObjectMeta{Name: "a", ResourceVersion: "7"}, ""},
	} {
		text, err := row.metadata.Marshal()
		require.NoError(t, err)
		h, ok := peekMetadata(text)
		assert.Equal(t, row.want != "", ok, reason)
		if ok {
			assert.Equal(t, row.want, strings.Join([]string{string(h.namespace), string(h.name), string(h.uid), string(h.version)}, " "), reason)
			_, ok = peekMetadata(text[:len(text)-1])
			assert.False(t, ok, "%s, cut off", reason)
		}
	}
}

func TestBrokenFields(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		message []byte
		want    string
	}{
		"a tag without an end":         {[]byte{0x80}, "unexpected EOF"},
		"a number without an end":      {[]byte{0x08, 0x80}, "unexpected EOF"},
		"a text without a length":      {[]byte{0x0a}, "unexpected EOF"},
		"a text longer than the rest":  {[]byte{0x0a, 3, 'a', 'b'}, "unexpected EOF"},
		"a text of all that there is":  {append([]byte{0x0a}, bytes.Repeat([]byte{0xff}, 9)...), "unexpected EOF"},
		"half of eight bytes":          {[]byte{0x09, 1, 2, 3, 4}, "unexpected EOF"},
		"half of four bytes":           {[]byte{0x0d, 1, 2}, "unexpected EOF"},
		"a kind of field that is none": {[]byte{0x0f}, "a field of the wire type 7"},
	} {
		err := eachField(row.message, func(uint64, []byte) {})
		assert.EqualError(t, err, row.want, reason)
	}
	var found []string
	message := []byte{0x08, 0x96, 0x01, 0x12, 1, 'x', 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4, 0x2a, 0}
	require.NoError(t, eachField(message, func(number uint64, content []byte) {
		found = append(found, string(rune('0'+number))+"="+string(content))
	}))
	assert.Equal(t, []string{"2=x", "5="}, found, "numbers, and what has a fixed size, are gone past")
}

// What is read of a message without decoding it is what its decoder reads.
func FuzzPeekMetadata(f *testing.F) {
	text, err := (&metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "7", Generation: 3}).Marshal()
	require.NoError(f, err)
	f.Add(text)
	f.Add(append(text, text...))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, ok := peekMetadata(text)
		var metadata metav1.ObjectMeta
		if !ok || metadata.Unmarshal(text) != nil {
			return
		}
		assert.Equal(t, metadata.Name, string(h.name))
		assert.Equal(t, metadata.Namespace, string(h.namespace))
		assert.Equal(t, string(metadata.UID), string(h.uid))
		assert.Equal(t, metadata.ResourceVersion, string(h.version))
		assert.Nil(t, metadata.DeletionTimestamp)
	})
}
