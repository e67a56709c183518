package queuetest

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
)

func sendReceive(s *stage) {
	m := message(7)
	m.Type, m.Tenant, m.Trace = `a "type" <&> \ é 队`, "naïve", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	s.send(s.topic, m)
	d := s.receive(s.sub, 1)[0]
	if !bytes.Equal(d.Body(), m.Encode()) {
		s.Errorf("received %s, sent %s", d.Body(), m.Encode())
	}
	s.must(d.Ack(s.ctx))
}

func sendBatch(s *stage) {
	n := s.Batch
	s.send(s.topic, messages(n)...)
	for _, d := range s.receiveAll(s.sub, n) {
		s.must(d.Ack(s.ctx))
	}
}

func sendNothing(s *stage) {
	if errs := s.topic.Send(s.ctx, nil); len(errs) != 0 {
		s.Errorf("Send of nothing gave %d answers", len(errs))
	}
	s.nothing(s.sub, s.Visibility)
}

// A Go string need not be UTF-8, but many queues only accept UTF-8.
func sendNotUTF8(s *stage) {
	m := message(1)
	m.Type, m.Tenant = "bad\xff\xfe", "\xc3("
	s.send(s.topic, m)
	d := s.receive(s.sub, 1)[0]
	if !utf8.Valid(d.Body()) {
		s.Errorf("the body is not UTF-8: %q", d.Body())
	}
	if got, err := core.DecodeMessage(d.Body()); err != nil || got.ID != m.ID || got.Token != m.Token {
		s.Errorf("decoded %+v, %v; want id %d and token %d", got, err, m.ID, m.Token)
	}
	s.must(d.Ack(s.ctx))
}

func sendCancelled(s *stage) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	errs := s.topic.Send(ctx, messages(3))
	if len(errs) != 3 {
		s.Fatalf("Send of 3 messages gave %d answers", len(errs))
	}
	for i, err := range errs {
		if err == nil {
			s.Errorf("message %d is said to be published", i)
		}
	}
}

func sendTwice(s *stage) {
	s.send(s.topic, message(1))
	s.send(s.topic, message(1))
	all := s.receive(s.sub, 2)
	if ids := s.ids(all); ids[1] != 2 {
		s.Errorf("deliveries by id: %v, want two of id 1", ids)
	}
	s.must(all[0].Ack(s.ctx))
	s.must(all[1].Ack(s.ctx))
}

func priorities(s *stage) {
	subs := map[core.Priority]core.Subscription{core.Default: s.sub}
	for i, p := range core.Priorities {
		if p != core.Default {
			subs[p] = s.openSubscription(p)
		}
		m := message(int64(i + 1))
		m.Priority = p
		topic := s.openTopic(p)
		s.send(topic, m)
	}
	for i, p := range core.Priorities {
		d := s.receive(subs[p], 1)[0]
		m, err := core.DecodeMessage(d.Body())
		s.must(err)
		if m.Priority != p || m.ID != int64(i+1) {
			s.Errorf("the %s subscription received %+v", p, m)
		}
		s.must(d.Ack(s.ctx))
	}
	for _, p := range core.Priorities {
		s.nothing(subs[p], s.Visibility/4)
	}
}
