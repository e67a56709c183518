package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core/jsonfault"
)

// MessageVersion is the version of the message this program writes and the newest it reads.
const MessageVersion = 1

// MaxMessageBytes bounds the bodies that are parsed. Belfry's messages are far smaller.
const MaxMessageBytes = 4 << 10

// Message is the doorbell: it names a queued row under one lease token, and carries nothing that matters
// if it is lost, doubled or forged. The row decides.
type Message struct {
	ID       int64
	Token    int64
	Priority Priority
	Type     string // for logs; the row's type decides
	Tenant   string // lets fair queues group; the row's tenant decides
	Trace    string // W3C traceparent; "" means none
}

// wireMessage is the JSON body. Ids are strings, as in the API: JSON readers lose integers beyond 2^53.
type wireMessage struct {
	V        int    `json:"v"`
	ID       string `json:"id"`
	Token    string `json:"token"`
	Priority string `json:"priority"`
	Type     string `json:"type,omitempty"`
	Tenant   string `json:"tenant,omitempty"`
	Trace    string `json:"trace,omitempty"`
}

// Encode writes the message's body: one line of JSON, valid UTF-8.
func (m Message) Encode() []byte {
	return m.Append(make([]byte, 0, 96+len(m.Type)+len(m.Tenant)+len(m.Trace)))
}

// Append appends the message's body to b.
func (m Message) Append(b []byte) []byte {
	if plain(m.Type) && plain(m.Tenant) && plain(m.Trace) {
		return m.appendPlain(b)
	}
	return append(b, m.encodeAny()...)
}

// encodeAny encodes any message.
func (m Message) encodeAny() []byte {
	body, err := json.Marshal(wireMessage{MessageVersion, strconv.FormatInt(m.ID, 10), strconv.FormatInt(m.Token, 10), m.Priority.String(), m.Type, m.Tenant, m.Trace})
	if err != nil {
		panic(err) // a struct of an int and strings always marshals
	}
	return body
}

// ErrMessage is wrapped by every error of DecodeMessage: the body is damaged, a stranger's or of a newer version.
var ErrMessage = errors.New("not a message of belfry")

// DecodeMessage reads a body. It trusts nothing: any fault is an error that wraps ErrMessage.
func DecodeMessage(body []byte) (Message, error) {
	if len(body) > MaxMessageBytes {
		return Message{}, fmt.Errorf("%w: %d bytes, at most %d", ErrMessage, len(body), MaxMessageBytes)
	}
	if m, ok := decodePlain(body); ok {
		return m, nil
	}
	return decodeAny(body)
}

// decodeAny decodes a body of any form.
func decodeAny(body []byte) (Message, error) {
	if !utf8.Valid(body) {
		return Message{}, fmt.Errorf("%w: not UTF-8", ErrMessage)
	}
	var w wireMessage
	if err := json.Unmarshal(body, &w); err != nil {
		return Message{}, fmt.Errorf("%w: %s", ErrMessage, jsonfault.Text(err))
	}
	if w.V < 1 || w.V > MessageVersion {
		return Message{}, fmt.Errorf("%w: version %d, this program reads 1 to %d", ErrMessage, w.V, MessageVersion)
	}
	p, err := ParsePriority(w.Priority)
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	id, err := strconv.ParseInt(w.ID, 10, 64)
	if err != nil || id <= 0 {
		return Message{}, fmt.Errorf("%w: id %.40q", ErrMessage, w.ID)
	}
	token, err := strconv.ParseInt(w.Token, 10, 64)
	if err != nil || token < 0 {
		return Message{}, fmt.Errorf("%w: token %.40q", ErrMessage, w.Token)
	}
	return Message{ID: id, Token: token, Priority: p, Type: w.Type, Tenant: w.Tenant, Trace: w.Trace}, nil
}

// MessageOf makes the message of a dispatched job.
func MessageOf(j Job) Message {
	return Message{ID: j.ID, Token: j.LeaseToken, Priority: j.Priority, Type: j.Type, Tenant: j.Tenant, Trace: j.Trace}
}

var ErrNoAnswer = errors.New("the topic gave no answer for this message")

// Unpublished lists the messages that are not known to be published, by the answers of Send, and one cause.
func Unpublished(messages []Message, errs []error) (refs []Ref, cause error) {
	for i, m := range messages {
		err := ErrNoAnswer
		if i < len(errs) {
			err = errs[i]
		}
		if err != nil {
			refs, cause = append(refs, Ref{m.ID, m.Token}), err
		}
	}
	return refs, cause
}

// The body of a message is written and read by hand where it has the form that Encode gives it and its texts are
// plain, which is nearly always: by reflection a message would cost more than the rest of its way through a queue.

// plain reports whether a text stands in JSON as it is, whoever writes or reads it: printable ASCII, of which
// encoding/json escapes nothing.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return false
		}
	}
	return true
}

// appendPlain appends the body of a message whose texts are plain.
func (m Message) appendPlain(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, MessageVersion, 10)
	b = append(b, `,"id":"`...)
	b = strconv.AppendInt(b, m.ID, 10)
	b = append(b, `","token":"`...)
	b = strconv.AppendInt(b, m.Token, 10)
	b = append(b, `","priority":"`...)
	b = append(b, m.Priority.String()...)
	b = append(b, '"')
	b = appendText(b, `,"type":"`, m.Type)
	b = appendText(b, `,"tenant":"`, m.Tenant)
	b = appendText(b, `,"trace":"`, m.Trace)
	return append(b, '}')
}

func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return append(append(append(b, name...), text...), '"')
}

// decodePlain reads a body of exactly the form appendPlain writes. Of any other it says false, and nothing is known
// of it: it may still be a message.
func decodePlain(body []byte) (m Message, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"v":1,"id":"`))
	if !ok {
		return m, false
	}
	id, rest, ok := cutText(rest, `","token":"`)
	if !ok {
		return m, false
	}
	token, rest, ok := cutText(rest, `","priority":"`)
	if !ok {
		return m, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return m, false
	}
	priority, rest := rest[:end], rest[end+1:]
	for _, p := range Priorities {
		if p.String() == string(priority) {
			m.Priority = p
		}
	}
	m.ID, m.Token = digits(id), digits(token)
	m.Type, rest = optional(rest, `,"type":"`)
	m.Tenant, rest = optional(rest, `,"tenant":"`)
	m.Trace, rest = optional(rest, `,"trace":"`)
	return m, m.Priority.Valid() && m.ID > 0 && m.Token >= 0 && string(rest) == "}"
}

// cutText returns what is before separator and after it.
func cutText(b []byte, separator string) (before, after []byte, ok bool) {
	return bytes.Cut(b, []byte(separator))
}

// optional reads a member that may be left out. What is wrong with it is left in rest.
func optional(b []byte, name string) (text string, rest []byte) {
	if len(b) < len(name) || string(b[:len(name)]) != name {
		return "", b
	}
	end := bytes.IndexByte(b[len(name):], '"')
	if end <= 0 || !plain(b[len(name):len(name)+end]) {
		return "", b
	}
	return string(b[len(name) : len(name)+end]), b[len(name)+end+1:]
}

// digits is the number that b writes in decimal digits and nothing else, or -1.
func digits(b []byte) int64 {
	const most = 18 // such a number cannot overflow
	if len(b) == 0 || len(b) > most {
		return -1
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
