package boot_test

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/functions/boot"
)

// What a server takes as a token, a client can send, and the other way round; both refuse in the same words, without the token.
func TestServerAndClientTakeTheSameTokens(t *testing.T) {
	const long = "0123456789-canary-0123456789"
	for _, c := range []struct{ token, says string }{
		{long, ""}, {`a"b'` + long, ""}, {"~!#$%&()*" + long, ""}, {`"` + long, "begins or ends with a quotation mark"},
		{"s\u00e9cret" + long, "visible ASCII, at byte 1"}, {long + "\u00e9", "visible ASCII"}, {"a b" + long, "visible ASCII, at byte 1"}, {"a\tb" + long, ", at byte 1"},
		{`"` + long + `"`, "begins or ends with a quotation mark"}, {"'" + long + "'", "begins or ends with a quotation mark"}, {"`" + long + "`", "begins or ends with a quotation mark"},
	} {
		t.Setenv("BELFRY_TOKENS", long+","+c.token)
		_, onServer := boot.ReadSettings()
		_, inClient := client.New("http://127.0.0.1:1", client.Options{Token: c.token})
		for who, err := range map[string]error{"server": onServer, "client": inClient} {
			switch {
			case c.says == "" && err != nil && strings.Contains(err.Error(), "token"):
				t.Errorf("%s refuses %q: %v", who, c.token, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary")):
				t.Errorf("%s of %q: %v, want %q", who, c.token, err, c.says)
			}
		}
	}
}
